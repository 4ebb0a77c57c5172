import { groupKind } from '../../../shared/zone/meter-kinds.js';
import { addressText } from '../../address/backend-url.js';
import type { WorkerEnv } from '../../env.js';
import { resolverScope } from '../../resolver/directive/resolver-settings.js';
import { resolverOf } from '../../resolver/directive/resolvers.js';
import type { ProtocolRuntime } from '../../task/protocol-runtime.js';
import { Peer, PeerSet } from '../balancing/peer.js';
import { Rotation } from '../balancing/rotation.js';
import { RoundRobin } from '../balancing/round-robin.js';
import { SharedBalancer } from '../balancing/shared-picker.js';
import { IdleMeter, IdlePool, type KeepaliveSettings } from '../connection/idle-pool.js';
import { Http2Pool } from '../http2/http2-pool.js';
import { type DynamicGroup, DynamicServer } from './dynamic-server.js';
import { meterName, type UpstreamGroup } from './group.js';
import { ACCEPTS, type Declaration, type GroupServer, type GroupSettings } from './group-config.js';
import { impliedGroup, peersOfAddresses, unixPeer } from './groups.js';
import { GroupState } from './state-file.js';

/** The idle connections of a group without a word about them: as nginx keeps them, and as we do by default. */
function keepaliveOf(conf: Readonly<GroupSettings>, env: WorkerEnv): KeepaliveSettings | undefined {
  const said = conf.keepalive ?? {};
  const defaults = env.compatible ? { connections: 32, local: said.connections === undefined } : { connections: 0, local: false };
  const settings = { requests: 1000, time: 3_600_000, timeout: 60_000, ...defaults, ...said };
  return settings.connections === 0 ? undefined : settings;
}

/** Makes a group of an `upstream {}` block. */
export function buildGroup(conf: Readonly<GroupSettings>, runtime: ProtocolRuntime, env: WorkerEnv): UpstreamGroup {
  const dynamic = conf.servers.filter((server) => server.resolve !== 'no');
  const mayHaveBackup = dynamic.length > 0 || (conf.zone !== undefined && (conf.accepts & ACCEPTS.BACKUP) !== 0);
  const withBackup = mayHaveBackup || conf.servers.some((server) => server.backup);
  const backup = withBackup ? new PeerSet(conf.name, peersOf(conf, true), undefined) : null;
  const set = new PeerSet(conf.name, peersOf(conf, false), backup);
  for (const [id, peer] of [...set.peers, ...(backup?.peers ?? [])].entries()) {
    peer.id = id;
  }
  const keepalive = keepaliveOf(conf, env);
  const idle = keepalive === undefined ? undefined : new IdlePool(keepalive);
  const streams = keepalive === undefined ? undefined : new Http2Pool(keepalive);
  env.onClose(() => {
    idle?.close();
    streams?.close();
  });
  countPeers(set, runtime);
  const { meters } = runtime;
  if (idle !== undefined && streams !== undefined && meters) {
    idle.meter = streams.meter = new IdleMeter(meters.meter(groupKind, conf.name));
  }
  if (dynamic.length > 0) {
    startResolving(conf, dynamic, set, runtime, env);
  }
  const own = conf.balancer?.(set, env) ?? new RoundRobin(set);
  // One worker needs nobody's knowledge but its own, unless the worker after it has to know what was changed.
  const shared =
    conf.zone !== undefined && (env.workers > 1 || conf.state !== undefined)
      ? new SharedBalancer(own, set, env.zones.open(conf.zone))
      : undefined;
  if (conf.balancer === undefined && shared === undefined) {
    set.rotation = new Rotation(set);
  }
  const method = shared ?? own;
  const balancer = conf.affinity?.(method, env) ?? method;
  return {
    name: conf.name,
    port: 0,
    noPort: true,
    balancer: conf.chooser?.(balancer, set, runtime, env) ?? balancer,
    idle,
    streams,
    set,
    shared,
    zone: conf.zone?.name,
    changes: conf.changes,
    state: conf.state === undefined ? undefined : new GroupState(conf.state, conf.name, dynamic, env.log),
    lazySet: dynamic.some((server) => server.resolve === 'lazy') ? set : undefined,
  };
}

/** Has the peers of a group counted; those of the backup set apart. */
function countPeers(set: PeerSet, { meters, peerKind }: ProtocolRuntime): void {
  if (meters !== null) {
    set.countWith((peer) => meters.meter(peerKind, meterName(set.name, false, peer.name)));
    set.backup?.countWith((peer) => meters.meter(peerKind, meterName(set.name, true, peer.name)));
  }
}

function startResolving(
  conf: Readonly<GroupSettings>,
  lines: readonly GroupServer[],
  set: PeerSet,
  runtime: ProtocolRuntime,
  env: WorkerEnv,
): void {
  const general = runtime.mainSettings(resolverScope);
  const group: DynamicGroup = {
    set,
    resolver: resolverOf((conf.resolver ?? general.resolver)!, runtime, env),
    resolverTimeout: conf.resolverTimeout ?? general.resolverTimeout,
    names: env.zones.open(conf.names!),
    log: env.log,
  };
  for (const line of lines) {
    const server = new DynamicServer(group, line);
    server.start();
    env.onClose(() => server.stop());
  }
}

function peersOf(conf: Readonly<GroupSettings>, backup: boolean): Peer[] {
  return conf.servers.filter((server) => server.backup === backup && server.resolve === 'no').flatMap(serverPeers);
}

function serverPeers({ url, options, host }: GroupServer): Peer[] {
  if (url.family === 'unix') {
    return [new Peer(`unix:${url.host}`, url.url, url.host, 0, options)];
  }
  const addresses = host === undefined ? [url.address!] : host.addresses;
  return addresses.map((address) => new Peer(addressText(address, url.port), url.url, address, url.port, options));
}

/** Makes the group of a host that has no `upstream {}`. */
export function buildImpliedGroup(declaration: Declaration, runtime: ProtocolRuntime): UpstreamGroup {
  const { host, port, noPort, url, addresses } = declaration;
  if (url?.family === 'unix') {
    return impliedGroup(host, 0, false, counted(unixPeer(url.host), runtime));
  }
  const known = url?.address === undefined ? addresses!.addresses : [url.address];
  return impliedGroup(host, port, noPort, counted(peersOfAddresses(host, known, port), runtime));
}

function counted(set: PeerSet, runtime: ProtocolRuntime): PeerSet {
  countPeers(set, runtime);
  return set;
}
