import { nativeText } from '../../shared/text/native-text.js';
import type { WorkerTotals } from '../../shared/zone/counters.js';
import { CACHE, CACHE_STATUSES, cacheKind, RESET, resetKind, SERVICE, serviceKind } from '../../shared/zone/meter-kinds.js';
import { emptyReading, type Reading } from '../../shared/zone/meters.js';
import type { CacheDef } from '../cache/cache-def.js';
import { type CacheIndex, cacheZones } from '../cache/index-zone.js';
import type { PurgeCount } from '../cache/purge-marks.js';
import { insistCounted } from './api-question.js';
import { metersOf, type StatusSource } from './source.js';

/** Bytes of a page of nginx's allocator, by which the API counts. */
const PAGE = 4096;

/** What the master tells of the service. */
export const serviceReading = (source: StatusSource): Float64Array =>
  (metersOf(source).read(serviceKind).get('') ?? emptyReading(serviceKind, '')).values;

/** When the configuration was loaded, how often, and how many processes were replaced and reloads refused. */
export interface Service {
  readonly generation: number;
  readonly loadedAt: number;
  readonly respawned: number;
  readonly refused: number;
  /** When the last reload failed, if none has succeeded since; 0 otherwise. */
  readonly refusedAt: number;
}

export function serviceObject(source: StatusSource): Service {
  const values = serviceReading(source);
  const loadedAt = values[SERVICE.loadedAt]!;
  const refusedAt = values[SERVICE.refusedAt]!;
  return {
    generation: values[SERVICE.generation]!,
    loadedAt,
    respawned: values[SERVICE.respawned]!,
    refused: values[SERVICE.refused]!,
    refusedAt: refusedAt > loadedAt ? refusedAt : 0,
  };
}

const resetValues = (source: StatusSource): Float64Array =>
  (metersOf(source).read(resetKind).get('') ?? emptyReading(resetKind, '')).values;

/** Connections of clients in NGINX Plus's form: `active` ones serve a request. */
export function connectionsObject(source: StatusSource): object {
  const { accepts, handled, active, waiting } = source.env.zones.counters.totals();
  const reset = resetValues(source);
  return {
    accepted: accepts - reset[RESET.accepted]!,
    dropped: accepts - handled - reset[RESET.dropped]!,
    active: Math.max(0, active - waiting),
    idle: waiting,
  };
}

export function requestsObject(source: StatusSource): object {
  const { requests, reading, writing } = source.env.zones.counters.totals();
  return { total: requests - resetValues(source)[RESET.requests]!, current: reading + writing };
}

/** Begins to count connections anew, for the API alone. */
export function resetConnections(source: StatusSource): void {
  const { accepts, handled } = source.env.zones.counters.totals();
  const set = (values: Float64Array): void => {
    values[RESET.accepted] = accepts;
    values[RESET.dropped] = accepts - handled;
  };
  insistCounted(metersOf(source).change(resetKind, '', set));
}

/** Begins to count requests anew, for the API alone. */
export function resetRequests(source: StatusSource): void {
  const { requests } = source.env.zones.counters.totals();
  const set = (values: Float64Array): void => {
    values[RESET.requests] = requests;
  };
  insistCounted(metersOf(source).change(resetKind, '', set));
}

/** The workers that live, in the order of their process ids. */
export const workersOf = ({ env }: StatusSource): WorkerTotals[] =>
  env.zones.counters
    .perWorker()
    .filter(({ worker }) => worker !== 0)
    .sort((a, b) => Math.abs(a.worker) - Math.abs(b.worker));

/** A worker in NGINX Plus's form. */
export function workerObject({ worker, accepts, handled, active, waiting, reading, writing, requests }: WorkerTotals, id: number): object {
  return {
    id,
    pid: Math.abs(worker),
    connections: { accepted: accepts, dropped: accepts - handled, active: Math.max(0, active - waiting), idle: waiting },
    http: { requests: { total: requests, current: reading + writing } },
  };
}

/** Shared zones by name: how many pages of nginx's their entries take; one is for the zone itself. */
export function slabsObject({ env }: StatusSource): Record<string, object> {
  return Object.fromEntries(
    env.zones.stats().map(({ ref, stats }) => {
      const all = Math.max(1, Math.floor(ref.bytes / PAGE));
      const used = Math.min(all, Math.max(1, Math.ceil(stats.used / PAGE)));
      return [nativeText(ref.name), { pages: { used, free: all - used }, slots: {} }];
    }),
  );
}

const KINDS: readonly unknown[] = Object.values(cacheZones);

/** A cache with what was counted of it. */
export interface CountedCache {
  readonly name: string;
  readonly index: CacheIndex;
  readonly def: CacheDef;
  readonly reading: Reading;
}

/** The caches of the configuration. */
export function takeCaches(source: StatusSource): CountedCache[] {
  const counted = metersOf(source).read(cacheKind);
  return source.env.zones
    .stats()
    .filter(({ ref }) => KINDS.includes(ref.kind))
    .map(({ ref }) => ({
      name: ref.name,
      index: source.env.zones.open(ref) as CacheIndex,
      def: ref.data as CacheDef,
      reading: counted.get(ref.name) ?? emptyReading(cacheKind, ref.name),
    }));
}

/** Purges by what they named, and those that were soft. */
function purgesObject(counts: readonly PurgeCount[]): object {
  return Object.fromEntries(counts.map(({ what, soft, purges, entries }) => [soft ? `soft_${what}` : what, { purges, entries }]));
}

/** A cache in NGINX Plus's form. */
export function cacheObject({ index, def, reading: { values } }: CountedCache): object {
  const { size, loaded } = index.state();
  return {
    size,
    ...(Number.isFinite(def.maxSize) ? { max_size: def.maxSize } : {}),
    cold: !loaded,
    purges: purgesObject(index.marks.counts()),
    ...Object.fromEntries(
      CACHE_STATUSES.map((status, i) => [
        status.toLowerCase(),
        {
          responses: values[CACHE.responses + i]!,
          bytes: values[CACHE.bytes + i]!,
          ...(i < 4 ? {} : { responses_written: values[CACHE.responsesWritten + i]!, bytes_written: values[CACHE.bytesWritten + i]! }),
        },
      ]),
    ),
  };
}
