import { nativeText } from '../../../shared/text/native-text.js';
import type { Totals, WorkerTotals } from '../../../shared/zone/counters.js';
import type { ZoneStats } from '../../../shared/zone/kind.js';
import { PEER, SERVICE, serviceKind } from '../../../shared/zone/meter-kinds.js';
import type { Meters } from '../../../shared/zone/meters.js';
import { type OrderReport, orderReports } from '../../acme/acme-zone.js';
import type { PeerStanding, PeerState } from '../../status/peers.js';
import type { StatusSource } from '../../status/source.js';
import { type StoreReport, takeStore } from '../../status/store.js';
import { type CountedPeer, groupName, takeGroups } from '../../status/upstreams.js';

/** What a status page shows. */
export interface Report {
  readonly totals: Totals;
  /** The workers that live, by process id. */
  readonly workers: readonly WorkerTotals[];
  readonly zones: readonly ZoneReport[];
  /** Groups of backends. */
  readonly upstreams: readonly UpstreamReport[];
  /** Certificates that an issuer is asked for. */
  readonly orders: readonly OrderReport[];
  /** What this machine shares with others; undefined without `shared_store`. */
  readonly store: StoreReport | undefined;
}

export interface ZoneReport extends ZoneStats {
  /** The name, with its bytes read as UTF-8. */
  readonly name: string;
  readonly kind: string;
  readonly size: number;
}

/** What a status page shows of a group. */
export interface UpstreamReport {
  readonly name: string;
  /** Undefined: each worker knows its peers for itself. */
  readonly zone: string | undefined;
  readonly peers: readonly PeerReport[];
}

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
  readonly checks: PeerStanding['checks'];
}

/** Reads all numbers once. */
export function takeReport(source: StatusSource): Report {
  const { zones } = source.env;
  return {
    totals: withMasters(zones.counters.totals(), zones.counters.meters),
    workers: zones.counters.perWorker().filter(({ worker }) => worker !== 0),
    zones: zones.stats().map(({ ref, stats }) => ({
      ...stats,
      name: nativeText(ref.name),
      kind: ref.kind.id,
      size: ref.bytes,
    })),
    upstreams: takeGroups(source).map((counted) => ({
      name: groupName(counted.group),
      zone: counted.group.zone,
      peers: counted.peers.map(peerReport),
    })),
    orders: orderReports(source.http).read?.() ?? [],
    store: takeStore(source),
  };
}

function peerReport({ peer, backup, state, checks, reading }: CountedPeer): PeerReport {
  const { name, server, weight, fails } = peer;
  const active = peer.meter === null ? peer.conns : Math.max(0, reading.values[PEER.active]!);
  return { address: name, server, backup, weight, state, active, fails, checks };
}

/** The numbers of all workers, with the lines of logs that the master has lost. */
function withMasters(totals: Totals, meters: Meters): Totals {
  const lost = meters.read(serviceKind).get('')?.values[SERVICE.linesLost] ?? 0;
  return { ...totals, linesLost: totals.linesLost + lost };
}
