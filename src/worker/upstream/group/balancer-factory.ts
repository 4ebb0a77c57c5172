import type { WorkerEnv } from '../../env.js';
import type { ProtocolRuntime } from '../../task/protocol-runtime.js';
import type { Balancer } from '../balancing/balancer.js';
import type { PeerSet } from '../balancing/peer.js';

/** Makes a balancer for a group's peers. */
export type BalancerFactory = (set: PeerSet, env: WorkerEnv) => Balancer;

/** Puts something that chooses by itself before a group's balancer. */
export type ChooserFactory = (balancer: Balancer, set: PeerSet, runtime: ProtocolRuntime, env: WorkerEnv) => Balancer;

/** Puts something that knows where a session belongs before a group's balancer. */
export type AffinityFactory = (balancer: Balancer, env: WorkerEnv) => Balancer;
