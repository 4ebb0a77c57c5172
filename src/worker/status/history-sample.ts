import { BUCKETS, quantile } from '../../shared/zone/histogram.js';
import {
  CACHE,
  cacheKind,
  LIMIT,
  limitConnKind,
  limitReqKind,
  type MeterKind,
  PEER,
  peerKind,
  reasonKind,
  serverKind,
  TLS_METER,
  tlsKind,
  ZONE,
} from '../../shared/zone/meter-kinds.js';
import type { Reading } from '../../shared/zone/meters.js';
import { metersOf, type StatusSource } from './source.js';

/** How many names of a kind are kept in the history, the busiest ones. */
const MOST_NAMES = 100;
const MOST_REASONS = 20;

/** Counts by name, each a short row of numbers. */
type Rows = Record<string, number[]>;

/** Names are anybody's: "constructor" is one as any other. */
const noRows = (): Rows => Object.create(null) as Rows;

/** What happened in one interval. The rows of servers and peers end with their histogram. */
export interface Sample {
  /** Connections at its end: those that serve a request, and idle ones. */
  readonly connections: readonly [active: number, idle: number];
  /** Requests, 1xx to 5xx, discarded, bytes received and sent, milliseconds, histogram. */
  readonly servers: Rows;
  /** Requests, 1xx to 5xx, failures, milliseconds, histogram. */
  readonly peers: Rows;
  /** Responses from the cache, and all. */
  readonly caches: Rows;
  /** Passed, delayed, rejected. */
  readonly limits: Rows;
  /** Handshakes, those that failed. */
  readonly tls: readonly [ok: number, failed: number];
  /** Errors by their reason. */
  readonly reasons: Rows;
}

/** Where the histogram of a server's row begins. */
export const SERVER_TIMES = 10;

/** Totals since the start of the service, in the form of a sample: the difference of two is what happened between them. */
export function takeTotals(source: StatusSource): Sample {
  const meters = metersOf(source);
  const rows = (kind: MeterKind, row: (values: Float64Array) => number[]): Rows => {
    const all = noRows();
    for (const { name, values } of busiest(meters.read(kind))) {
      all[name] = row(values);
    }
    return all;
  };
  const { active, waiting } = source.env.zones.counters.totals();
  const tls = meters.read(tlsKind).get('')?.values;
  const limits = ({ 0: passed, [LIMIT.delayed]: delayed, [LIMIT.rejected]: rejected }: Float64Array): number[] => [
    passed!,
    delayed!,
    rejected!,
  ];
  return {
    connections: [Math.max(0, active - waiting), waiting],
    servers: rows(serverKind, (v) => [
      v[ZONE.requests]!,
      ...v.subarray(ZONE.class1, ZONE.class1 + 5),
      v[ZONE.discarded]!,
      v[ZONE.received]!,
      v[ZONE.sent]!,
      Math.round(v[ZONE.time]!),
      ...v.subarray(ZONE.buckets, ZONE.buckets + BUCKETS),
    ]),
    peers: rows(peerKind, (v) => [
      v[PEER.requests]!,
      ...v.subarray(PEER.class1, PEER.class1 + 5),
      v[PEER.fails]!,
      Math.round(v[PEER.responseTime]!),
      ...v.subarray(PEER.buckets, PEER.buckets + BUCKETS),
    ]),
    caches: rows(cacheKind, (v) => [
      v.subarray(0, 4).reduce((sum, n) => sum + n, 0),
      v.subarray(0, CACHE.bytes).reduce((sum, n) => sum + n, 0),
    ]),
    limits: { ...rows(limitReqKind, limits), ...rows(limitConnKind, limits) },
    tls: [tls?.[TLS_METER.handshakes] ?? 0, tls?.[TLS_METER.failed] ?? 0],
    reasons: rows(reasonKind, (v) => [v[0]!]),
  };
}

/** The readings with the greatest second number, which is that of their requests. */
function busiest(all: ReadonlyMap<string, Reading>): Reading[] {
  const list = [...all.values()];
  return list.length <= MOST_NAMES ? list : list.sort((a, b) => (b.values[1] ?? 0) - (a.values[1] ?? 0)).slice(0, MOST_NAMES);
}

/** What happened between two moments, without what did not. A number that fell was set to zero in between. */
export function difference(now: Sample, before: Sample | undefined): Sample {
  const rows = (kind: 'servers' | 'peers' | 'caches' | 'limits' | 'reasons'): Rows => {
    const result = noRows();
    for (const [name, row] of Object.entries(now[kind])) {
      const old = before?.[kind][name];
      const grown = row.map((n, i) => (old === undefined ? n : grow(n, old[i] ?? 0)));
      if (grown.some((n) => n !== 0)) {
        result[name] = grown;
      }
    }
    return result;
  };
  const reasons = Object.entries(rows('reasons')).sort(([, [a]], [, [b]]) => b! - a!);
  return {
    connections: now.connections,
    servers: rows('servers'),
    peers: rows('peers'),
    caches: rows('caches'),
    limits: rows('limits'),
    tls: [grow(now.tls[0], before?.tls[0] ?? 0), grow(now.tls[1], before?.tls[1] ?? 0)],
    reasons: Object.fromEntries(reasons.slice(0, MOST_REASONS)),
  };
}

const grow = (now: number, before: number): number => (now >= before ? now - before : now);

/** Puts samples of one after another together. */
export function join(samples: readonly Sample[]): Sample {
  const rows = (kind: 'servers' | 'peers' | 'caches' | 'limits' | 'reasons'): Rows => {
    const result = noRows();
    for (const sample of samples) {
      for (const [name, row] of Object.entries(sample[kind])) {
        const sum = result[name];
        result[name] = sum === undefined ? [...row] : sum.map((n, i) => n + (row[i] ?? 0));
      }
    }
    return result;
  };
  const mean = (i: 0 | 1): number =>
    Math.round(samples.reduce((sum, { connections }) => sum + connections[i], 0) / Math.max(1, samples.length));
  return {
    connections: [mean(0), mean(1)],
    servers: rows('servers'),
    peers: rows('peers'),
    caches: rows('caches'),
    limits: rows('limits'),
    tls: [samples.reduce((sum, { tls }) => sum + tls[0], 0), samples.reduce((sum, { tls }) => sum + tls[1], 0)],
    reasons: rows('reasons'),
  };
}

/** Three quantiles of a row's histogram in milliseconds, with one decimal. */
export const quantiles = (row: readonly number[], at: number): [number, number, number] => {
  const counts = row.slice(at);
  const of = (q: number): number => Math.round(quantile(counts, q) * 10) / 10;
  return [of(0.5), of(0.95), of(0.99)];
};
