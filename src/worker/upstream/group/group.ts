import type { Balancer } from '../balancing/balancer.js';
import type { PeerSet } from '../balancing/peer.js';
import type { SharedBalancer } from '../balancing/shared-picker.js';
import type { IdlePool } from '../connection/idle-pool.js';
import type { Http2Pool } from '../http2/http2-pool.js';
import type { ServerChangesRef } from './server-changes.js';
import type { GroupState } from './state-file.js';

/** What the meter of a group's peer is called; `backup`: it stands behind the others. */
export const meterName = (group: string, backup: boolean, peer: string): string => `${group}\n${backup ? 'backup ' : ''}${peer}`;

/** Backends that stand for each other, ready for use. nginx: ngx_http_upstream_srv_conf_t. */
export interface UpstreamGroup {
  readonly name: string;
  /** Port of a `proxy_pass` without `upstream {}`; 0 for a named group. */
  readonly port: number;
  readonly noPort: boolean;
  readonly balancer: Balancer;
  /** Undefined: every request opens a connection. */
  readonly idle: IdlePool | undefined;
  /** The HTTP/2 connections that requests share. */
  readonly streams?: Http2Pool | undefined;
  /** The servers, where they are known before a request. */
  readonly set?: PeerSet;
  /** Name of their zone. */
  readonly zone?: string | undefined;
  /** Where it is noted what is changed of them, for all machines of a fleet. */
  readonly changes?: ServerChangesRef | undefined;
  /** What the workers share of them, if they share anything. */
  readonly shared?: SharedBalancer | undefined;
  /** Keeps the servers over restarts. */
  readonly state?: GroupState | undefined;
  /** The servers of a group that may have none yet (`resolve=lazy`). */
  readonly lazySet?: PeerSet | undefined;
}
