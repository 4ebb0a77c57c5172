import { nativeText } from '../../shared/text/native-text.js';
import type { StatusHistory } from './history.js';
import { COARSE, FINE } from './history.js';
import { join, quantiles, type Sample, SERVER_TIMES } from './history-sample.js';
import { partsOfReason } from './reason-name.js';

/** What charts show of a range: one list a series, one number an interval. Times are milliseconds, rates are per second. */
export interface Series {
  /** Seconds. */
  readonly step: number;
  /** Seconds of the wall clock, at the end of each interval. */
  readonly at: number[];
  /** Responses a second by class, from 1xx; then requests without a response. */
  readonly classes: number[][];
  readonly quantiles: number[][];
  readonly connections: number[][];
  /** Bytes a second. */
  readonly received: number[];
  readonly sent: number[];
  /** Requests a second. */
  readonly servers: Record<string, number[]>;
  readonly peers: Record<string, number[]>;
  /** Share of responses from the cache; null where there was none. */
  readonly caches: Record<string, (number | null)[]>;
}

/** Ranges of more than this are shown in the coarse interval. */
const FINE_RANGE = 2 * 3600;

/** The last `range` seconds of the history. */
export function seriesOf(history: StatusHistory, range: number, now: number): Series {
  const step = range > FINE_RANGE ? COARSE : FINE;
  const samples = history.read(step, now - range);
  const shown = samples.map(([, sample]) => sample);
  const total = shown.map(({ servers }) => sum(Object.values(servers)));
  const rate = (n: number | undefined): number => Math.round(((n ?? 0) / step) * 100) / 100;
  const times = total.map((row) => quantiles(row, SERVER_TIMES));
  return {
    step,
    at: samples.map(([at]) => at),
    classes: [1, 2, 3, 4, 5, 6].map((i) => total.map((row) => rate(row[i]))),
    quantiles: [0, 1, 2].map((i) => times.map((row) => row[i]!)),
    connections: [0, 1].map((i) => shown.map(({ connections }) => connections[i]!)),
    received: total.map((row) => rate(row[7])),
    sent: total.map((row) => rate(row[8])),
    servers: byName(shown, 'servers', (row) => rate(row?.[0])),
    peers: byName(shown, 'peers', (row) => rate(row?.[0])),
    caches: byName(shown, 'caches', (row) => (row === undefined || row[1] === 0 ? null : Math.round((row[0]! / row[1]!) * 1000) / 1000)),
  };
}

/** What happened in the last `range` seconds in all, by name. */
export function pastOf(history: StatusHistory, range: number, now: number): object {
  const step = range > FINE_RANGE ? COARSE : FINE;
  const samples = history.read(step, now - range).map(([, sample]) => sample);
  const { servers, peers } = join(samples);
  const named = (rows: Readonly<Record<string, number[]>>): object =>
    Object.fromEntries(Object.entries(rows).map(([name, row]) => [nativeText(name), row]));
  return {
    seconds: Math.max(step, samples.length * step),
    servers: named(servers),
    peers: named(peers),
    reasons: reasonsSince(history, now - range),
  };
}

/** How many requests failed for a reason, in the location with this path; empty where none was chosen. */
export interface ReasonCount {
  readonly reason: string;
  readonly path: string;
  readonly count: number;
}

/** Why requests failed since a time, the commonest reason first. */
export function reasonsSince(history: StatusHistory, from: number): ReasonCount[] {
  const counts = new Map<string, number>();
  for (const [, { reasons }] of history.read(FINE, from)) {
    for (const [reason, [n]] of Object.entries(reasons)) {
      counts.set(reason, (counts.get(reason) ?? 0) + n!);
    }
  }
  return [...counts]
    .map(([name, count]) => {
      const [reason, path] = partsOfReason(nativeText(name));
      return { reason, path, count };
    })
    .sort((a, b) => b.count - a.count);
}

function byName<T>(
  samples: readonly Sample[],
  kind: 'servers' | 'peers' | 'caches',
  value: (row: number[] | undefined) => T,
): Record<string, T[]> {
  const names = new Set(samples.flatMap((sample) => Object.keys(sample[kind])));
  return Object.fromEntries([...names].map((name) => [nativeText(name), samples.map((sample) => value(sample[kind][name]))]));
}

function sum(rows: readonly (readonly number[])[]): number[] {
  const all: number[] = [];
  for (const row of rows) {
    for (const [i, n] of row.entries()) {
      all[i] = (all[i] ?? 0) + n;
    }
  }
  return all;
}
