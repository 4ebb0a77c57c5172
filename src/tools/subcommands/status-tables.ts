import { quantile } from '../../shared/zone/histogram.js';
import { JS, jsKind, PEER, peerKind, serverKind, streamPeerKind, streamServerKind, ZONE } from '../../shared/zone/meter-kinds.js';
import type { Meters, Reading } from '../../shared/zone/meters.js';

/** What a running service has counted by name. */
export interface NamedCounts {
  readonly servers: readonly Reading[];
  readonly peers: readonly Reading[];
  /** The servers of `stream`. */
  readonly streamServers: readonly Reading[];
  readonly streamPeers: readonly Reading[];
  readonly handlers: readonly Reading[];
}

/** Reads the counts of all servers, peers and handlers that have names. */
export const namedCounts = (meters: Meters): NamedCounts => ({
  servers: [...meters.read(serverKind).values()],
  peers: [...meters.read(peerKind).values()],
  handlers: [...meters.read(jsKind).values()],
  streamServers: [...meters.read(streamServerKind).values()],
  streamPeers: [...meters.read(streamPeerKind).values()],
});

/** Servers and peers as tables of plain text; `seconds` since `before`, for what happens a second. Empty without any. */
export function countTables(now: NamedCounts, before: NamedCounts | undefined, seconds: number): string {
  const rate = (all: readonly Reading[] | undefined, { name, values }: Reading, at: number): string => {
    const old = all?.find((reading) => reading.name === name);
    return old === undefined ? '-' : (Math.max(0, values[at]! - old.values[at]!) / seconds).toFixed(1);
  };
  const times = (counts: Float64Array): string[] => [0.5, 0.95].map((q) => `${quantile(counts, q).toFixed(1)} ms`);
  const classes = (values: Float64Array, at: number): string[] => [1, 2, 3, 4].map((i) => String(values[at + i]!));
  return [
    ...table(
      ['server', 'req/s', 'requests', '2xx', '3xx', '4xx', '5xx', 'p50', 'p95'],
      now.servers.map((reading) => [
        reading.name,
        rate(before?.servers, reading, ZONE.requests),
        String(reading.values[ZONE.requests]),
        ...classes(reading.values, ZONE.class1),
        ...times(reading.values.subarray(ZONE.buckets)),
      ]),
    ),
    ...table(
      ['peer', 'req/s', 'requests', '2xx', '3xx', '4xx', '5xx', 'p50', 'p95', 'failed', 'active'],
      now.peers.map((reading) => [
        reading.name.replace('\n', ' '),
        rate(before?.peers, reading, PEER.requests),
        String(reading.values[PEER.requests]),
        ...classes(reading.values, PEER.class1),
        ...times(reading.values.subarray(PEER.buckets)),
        String(reading.values[PEER.fails]),
        String(Math.max(0, reading.values[PEER.active]!)),
      ]),
    ),
    ...table(
      ['stream server', 'sess/s', 'sessions', '2xx', '4xx', '5xx', 'discarded', 'received', 'sent', 'active'],
      now.streamServers.map((reading) => [
        reading.name,
        rate(before?.streamServers, reading, ZONE.requests),
        ...[ZONE.requests, ZONE.class1 + 1, ZONE.class1 + 3, ZONE.class1 + 4, ZONE.discarded].map((at) => String(reading.values[at])),
        ...[ZONE.received, ZONE.sent].map((at) => bytes(reading.values[at]!)),
        String(Math.max(0, reading.values[ZONE.processing]!)),
      ]),
    ),
    ...table(
      ['stream peer', 'conn/s', 'connections', 'received', 'sent', 'connect', 'first byte', 'failed', 'active'],
      now.streamPeers.map((reading) => [
        reading.name.replace('\n', ' '),
        rate(before?.streamPeers, reading, PEER.requests),
        String(reading.values[PEER.requests]),
        ...[PEER.received, PEER.sent].map((at) => bytes(reading.values[at]!)),
        mean(reading.values, PEER.connectTime, PEER.connects),
        mean(reading.values, PEER.headerTime, PEER.headers),
        String(reading.values[PEER.fails]),
        String(Math.max(0, reading.values[PEER.active]!)),
      ]),
    ),
    ...table(
      ['js handler', 'runs/s', 'runs', 'errors', 'timeouts', 'mean', 'longest'],
      now.handlers.map((reading) => [
        reading.name,
        rate(before?.handlers, reading, JS.runs),
        String(reading.values[JS.runs]),
        String(reading.values[JS.errors]),
        String(reading.values[JS.timeouts]),
        `${(reading.values[JS.time]! / Math.max(1, reading.values[JS.runs]!)).toFixed(3)} ms`,
        `${reading.values[JS.longest]!.toFixed(1)} ms`,
      ]),
    ),
  ].join('\n');
}

/** The mean of times in milliseconds. */
const mean = (values: Float64Array, sum: number, count: number): string =>
  values[count] === 0 ? '-' : `${(values[sum]! / values[count]!).toFixed(1)} ms`;

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** A size in the largest unit of which there is at least one. */
function bytes(n: number): string {
  const unit = Math.min(UNITS.length - 1, n < 1 ? 0 : Math.floor(Math.log2(n) / 10));
  return unit === 0 ? `${n} B` : `${(n / 1024 ** unit).toFixed(1)} ${UNITS[unit]}`;
}

/** Lines of a table; none without rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) {
    return [];
  }
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)));
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ');
  return ['', line(head), ...rows.map(line), ''].slice(0, -1);
}
