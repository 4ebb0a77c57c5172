import type { Totals, WorkerTotals } from '../../../shared/zone/counters.js';
import type { ZoneStats } from '../../../shared/zone/kind.js';
import type { ZoneStore } from '../../../shared/zone/store.js';
import type { HttpRuntime } from '../../http/request/http-runtime.js';
import { takeUpstreams, type UpstreamReport } from './upstreams.js';

/** What a status page shows. */
export interface Report {
  readonly totals: Totals;
  /** The workers that live, by process id. */
  readonly workers: readonly WorkerTotals[];
  readonly zones: readonly ZoneReport[];
  /** Groups of backends that have a zone. */
  readonly upstreams: readonly UpstreamReport[];
}

export interface ZoneReport extends ZoneStats {
  /** The name, with its bytes read as UTF-8. */
  readonly name: string;
  readonly kind: string;
  readonly size: number;
}

/** Reads all numbers once. */
export function takeReport(http: HttpRuntime, zones: ZoneStore): Report {
  return {
    totals: zones.counters.totals(),
    workers: zones.counters.perWorker().filter(({ worker }) => worker !== 0),
    zones: zones.stats().map(({ ref, stats }) => ({
      ...stats,
      name: Buffer.from(ref.name, 'latin1').toString(),
      kind: ref.kind.id,
      size: ref.bytes,
    })),
    upstreams: takeUpstreams(http, zones),
  };
}
