import { nativeText } from '../../shared/text/native-text.js';
import { groupKind, PEER, PLUS_BOUNDS, TLS_METER } from '../../shared/zone/meter-kinds.js';
import { emptyReading, type Reading } from '../../shared/zone/meters.js';
import { meterName, type UpstreamGroup } from '../upstream/group/group.js';
import { groupsOf } from '../upstream/group/groups.js';
import { type PeerStanding, standingsOf } from './peers.js';
import { metersOf, type Protocol, runtimeOf, type StatusSource } from './source.js';
import { responsesObject, tlsObject } from './zones.js';

/** A peer with its numbers. */
export interface CountedPeer extends PeerStanding {
  readonly id: number;
  readonly reading: Reading;
}

/** A group with its peers. */
export interface CountedGroup {
  readonly group: UpstreamGroup;
  readonly peers: readonly CountedPeer[];
  /** Connections that no request uses. */
  readonly idle: number;
}

/** The groups that the configuration has, with what all workers have counted. */
export function takeGroups(source: StatusSource, protocol: Protocol = 'http'): CountedGroup[] {
  const runtime = runtimeOf(source, protocol);
  if (runtime === undefined) {
    return [];
  }
  const { peerKind } = runtime;
  const meters = metersOf(source);
  const counted = meters.read(peerKind);
  const idle = meters.read(groupKind);
  return groupsOf(runtime)
    .all.filter(({ set }) => set !== undefined)
    .map((group) => ({
      group,
      idle: Math.max(0, idle.get(group.name)?.values[0] ?? 0),
      peers: standingsOf(group, runtime, protocol).map((standing) => {
        const name = meterName(group.name, standing.backup, standing.peer.name);
        return { ...standing, id: standing.peer.id, reading: counted.get(name) ?? emptyReading(peerKind, name) };
      }),
    }));
}

/** What a group is called: an implied one by its host and port. */
export const groupName = ({ name, port }: UpstreamGroup): string => nativeText(port === 0 ? name : `${name}:${port}`);

/** A group in NGINX Plus's form. */
export function groupObject({ group, peers, idle }: CountedGroup, protocol: Protocol = 'http'): object {
  return {
    peers: peers.map(protocol === 'http' ? peerObject : streamPeerObject),
    ...(protocol === 'http' ? { keepalive: idle } : {}),
    zombies: 0,
    ...(group.zone === undefined ? {} : { zone: nativeText(group.zone) }),
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Connections in use: by the meter, or by what the zone knows where nothing is counted. */
const activeOf = ({ peer, reading }: CountedPeer): number => Math.max(0, peer.meter === null ? peer.conns : reading.values[PEER.active]!);

function peerObject(counted: CountedPeer): object {
  const { values, codes } = counted.reading;
  const v = (place: number): number => values[place]!;
  return {
    ...peerBeginning(counted),
    requests: v(PEER.requests),
    ...mean(values, 'header_time', PEER.headerTime, PEER.headers),
    ...mean(values, 'response_time', PEER.responseTime, PEER.responses),
    ...(v(PEER.responses) > 0 ? { response_time_hist: histogramObject(values) } : {}),
    responses: responsesObject(values, PEER.class1, codes),
    ...peerEnd(counted),
  };
}

function streamPeerObject(counted: CountedPeer): object {
  const { values } = counted.reading;
  return {
    ...peerBeginning(counted),
    connections: values[PEER.requests]!,
    ...mean(values, 'connect_time', PEER.connectTime, PEER.connects),
    ...mean(values, 'first_byte_time', PEER.headerTime, PEER.headers),
    ...mean(values, 'response_time', PEER.responseTime, PEER.responses),
    ...peerEnd(counted),
  };
}

/** A mean of times, where there is one. */
const mean = (values: Float64Array, name: string, sum: number, count: number): object =>
  values[count]! > 0 ? { [name]: Math.round(values[sum]! / values[count]!) } : {};

/** What peers of both kinds have before their own numbers. */
function peerBeginning(counted: CountedPeer): object {
  const { id, peer, backup, state, reading } = counted;
  const { values } = reading;
  const tls = peer.meter !== null && values[PEER.tls + TLS_METER.handshakes]! + values[PEER.tls + TLS_METER.failed]! > 0;
  return {
    id,
    server: nativeText(peer.name),
    name: nativeText(peer.server),
    backup,
    weight: peer.weight,
    state,
    active: activeOf(counted),
    ...(tls ? { ssl: tlsObject(values, PEER.tls, 'upstream') } : {}),
    ...(peer.maxConns === 0 ? {} : { max_conns: peer.maxConns }),
  };
}

/** What they have behind them. */
function peerEnd({ peer, state, checks, reading }: CountedPeer): object {
  const v = (place: number): number => reading.values[place]!;
  const downSince = state === 'unavail' ? peer.checked * 1000 : (checks?.downSince ?? 0);
  return {
    sent: v(PEER.sent),
    received: v(PEER.received),
    fails: v(PEER.fails),
    unavail: v(PEER.unavail),
    health_checks: {
      checks: checks?.checks ?? 0,
      fails: checks?.fails ?? 0,
      unhealthy: checks?.unhealthy ?? 0,
      ...(checks === undefined ? {} : { last_passed: checks.lastPassed }),
    },
    downtime: (checks?.downtime ?? 0) + (downSince === 0 ? 0 : Math.max(0, Date.now() - downSince)),
    ...(downSince === 0 ? {} : { downstart: iso(downSince) }),
    ...(v(PEER.selected) === 0 ? {} : { selected: iso(v(PEER.selected)) }),
  };
}

function histogramObject(values: Float64Array): object {
  const names = [...PLUS_BOUNDS.map(String), 'inf'];
  return {
    count: values[PEER.responses]!,
    sum: Math.round(values[PEER.responseTime]!),
    buckets: Object.fromEntries(names.map((name, i) => [name, values[PEER.plus + i]!])),
  };
}
