import { nowSeconds } from '../../shared/time/unix-time.js';
import type { ProtocolRuntime } from '../task/protocol-runtime.js';
import { DOWN, DRAINING, HEALTHY, type Peer, UNHEALTHY } from '../upstream/balancing/peer.js';
import type { UpstreamGroup } from '../upstream/group/group.js';
import { checksOf, HEALTH_BYTES, HEALTH_ZONE, type HealthRecord, healthZone } from '../upstream/group/health-zone.js';
import type { Protocol } from './source.js';

/** NGINX Plus's words for what a peer is doing. */
export type PeerState = 'up' | 'draining' | 'down' | 'unavail' | 'checking' | 'unhealthy';

/** A peer of a group with what the status pages tell of it. */
export interface PeerStanding {
  readonly peer: Peer;
  readonly backup: boolean;
  readonly state: PeerState;
  /** What active checks found; undefined where there are none. */
  readonly checks: HealthRecord | undefined;
}

const zoneOfChecks = { name: HEALTH_ZONE, kind: healthZone, bytes: HEALTH_BYTES, data: undefined };

/** The peers of a group, the backup ones last, as all workers together see them. */
export function standingsOf(group: UpstreamGroup, runtime: ProtocolRuntime, protocol: Protocol): PeerStanding[] {
  const { set } = group;
  if (set === undefined) {
    return [];
  }
  group.shared?.refresh();
  const key = protocol === 'http' ? group.name : `stream ${group.name}`;
  const records = checksOf(runtime).has(group) ? runtime.env.zones.open(zoneOfChecks).read(key) : undefined;
  const standing = (peer: Peer, backup: boolean): PeerStanding => ({
    peer,
    backup,
    state: stateOf(peer),
    checks: records?.get(peer.name),
  });
  return [...set.peers.map((peer) => standing(peer, false)), ...(set.backup?.peers ?? []).map((peer) => standing(peer, true))];
}

function stateOf(peer: Peer): PeerState {
  if ((peer.down & DOWN) !== 0) {
    return 'down';
  }
  if (peer.health !== HEALTHY) {
    return peer.health === UNHEALTHY ? 'unhealthy' : 'checking';
  }
  if ((peer.down & DRAINING) !== 0) {
    return 'draining';
  }
  const failed = peer.maxFails !== 0 && peer.fails >= peer.maxFails && nowSeconds() - peer.checked <= peer.failTimeout;
  return failed ? 'unavail' : 'up';
}
