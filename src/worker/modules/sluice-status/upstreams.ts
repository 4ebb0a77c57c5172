import { nowSeconds } from '../../../shared/lib/unix-time.js';
import type { ZoneStore } from '../../../shared/zone/store.js';
import type { HttpRuntime } from '../../http/request/http-runtime.js';
import { DOWN, DRAINING, HEALTHY, type Peer, UNHEALTHY } from '../../upstream/balancing/peer.js';
import type { UpstreamGroup } from '../../upstream/group/group.js';
import { groupsOf } from '../../upstream/group/groups.js';
import { checksOf, HEALTH_BYTES, HEALTH_ZONE, type HealthRecord, healthZone } from '../../upstream/group/health-zone.js';

/** NGINX Plus's words for what a peer is doing. */
export type PeerState = 'up' | 'draining' | 'down' | 'unavail' | 'checking' | 'unhealthy';

/** What a status page shows of a peer. */
export interface PeerReport {
  readonly address: string;
  /** As the configuration names it. */
  readonly server: string;
  readonly backup: boolean;
  readonly weight: number;
  readonly state: PeerState;
  /** Connections to it that are in use. */
  readonly active: number;
  /** Failures that count against `max_fails`. */
  readonly fails: number;
  /** What active checks found; undefined where there are none. */
  readonly checks: HealthRecord | undefined;
}

/** What a status page shows of a group with a zone. */
export interface UpstreamReport {
  readonly name: string;
  readonly zone: string;
  readonly peers: readonly PeerReport[];
}

/** Reads the state of all groups with zones. */
export function takeUpstreams(http: HttpRuntime, zones: ZoneStore): UpstreamReport[] {
  return groupsOf(http).zoned.map((group) => {
    group.shared?.refresh();
    const records = checksOf(http).has(group) ? zones.open(zoneOfChecks).read(group.name) : undefined;
    const report = (backup: boolean) => (peer: Peer) => peerReport(peer, backup, records?.get(peer.name));
    const { peers, backup } = group.set as NonNullable<UpstreamGroup['set']>;
    return { name: group.name, zone: group.zone!, peers: [...peers.map(report(false)), ...(backup?.peers ?? []).map(report(true))] };
  });
}

const zoneOfChecks = { name: HEALTH_ZONE, kind: healthZone, bytes: HEALTH_BYTES, data: undefined };

function peerReport(peer: Peer, backup: boolean, checks: HealthRecord | undefined): PeerReport {
  const { name, server, weight, conns, fails } = peer;
  return { address: name, server, backup, weight, state: stateOf(peer), active: conns, fails, checks };
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
