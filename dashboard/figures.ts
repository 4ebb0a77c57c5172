// What happened in the window that the page shows: all of its figures are of this one.
import { span } from './numbers.js';
import type { Group, Past, Peer, Reason, State, Zone } from './types.js';

/** Counts of a server or of a peer within the window. */
export interface Row {
  readonly requests: number;
  /** From 1xx. */
  readonly classes: readonly number[];
  /** Requests without a response; of a peer, attempts that failed. */
  readonly lost: number;
  readonly received: number;
  readonly sent: number;
  /** Milliseconds in all. */
  readonly time: number;
  readonly buckets: readonly number[];
}

export interface Figures {
  /** Such as `last 5 min`. */
  readonly name: string;
  readonly seconds: number;
  readonly servers: ReadonlyMap<string, Row>;
  readonly locations: ReadonlyMap<string, Row>;
  /** By the names of their meters. */
  readonly peers: ReadonlyMap<string, Row>;
  readonly reasons: readonly Reason[];
  readonly total: Row;
}

export const NOTHING: Row = { requests: 0, classes: [0, 0, 0, 0, 0], lost: 0, received: 0, sent: 0, time: 0, buckets: [] };

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const grown = (now: number, before: number): number => Math.max(0, now - before);

const ofZone = ({ requests, responses, discarded, received, sent, time, buckets }: Zone): Row => ({
  requests,
  classes: CLASSES.map((name) => responses[name]),
  lost: discarded,
  received,
  sent,
  time,
  buckets,
});

const ofPeer = ({ requests, responses, fails, time, buckets }: Peer): Row => ({
  requests,
  classes: CLASSES.map((name) => responses[name]),
  lost: fails,
  received: 0,
  sent: 0,
  time,
  buckets,
});

/** What was added to the one to make the other. */
const difference = (now: Row, before: Row): Row => ({
  requests: grown(now.requests, before.requests),
  classes: now.classes.map((n, i) => grown(n, before.classes[i] ?? 0)),
  lost: grown(now.lost, before.lost),
  received: grown(now.received, before.received),
  sent: grown(now.sent, before.sent),
  time: grown(now.time, before.time),
  buckets: now.buckets.map((n, i) => grown(n, before.buckets[i] ?? 0)),
});

const added = (rows: Iterable<Row>): Row =>
  [...rows].reduce(
    (sum, row) => ({
      requests: sum.requests + row.requests,
      classes: sum.classes.map((n, i) => n + (row.classes[i] ?? 0)),
      lost: sum.lost + row.lost,
      received: sum.received + row.received,
      sent: sum.sent + row.sent,
      time: sum.time + row.time,
      buckets: row.buckets.map((n, i) => n + (sum.buckets[i] ?? 0)),
    }),
    NOTHING,
  );

const peersOf = (groups: Readonly<Record<string, Group>>): [string, Row][] =>
  Object.values(groups).flatMap(({ peers }) => peers.map((peer): [string, Row] => [peer.meter, ofPeer(peer)]));

/** The figures between two states, of which the page has seen the first when it was opened or some minutes ago. */
export function figuresBetween(first: State, last: State): Figures {
  const between = (all: readonly [string, Row][], before: readonly [string, Row][]): Map<string, Row> => {
    const old = new Map(before);
    // What is new since then, as after a reload, counts from its beginning.
    return new Map(all.map(([name, row]) => [name, difference(row, old.get(name) ?? NOTHING)]));
  };
  const zones = (state: State, kind: 'servers' | 'locations'): [string, Row][] =>
    Object.entries(state[kind]).map(([name, zone]) => [name, ofZone(zone)]);
  const seconds = (last.now - first.now) / 1000;
  const servers = between(zones(last, 'servers'), zones(first, 'servers'));
  return {
    name: `last ${span(last.now - first.now)}`,
    seconds: Math.max(seconds, 1e-3),
    servers,
    locations: between(zones(last, 'locations'), zones(first, 'locations')),
    peers: between(peersOf(last.upstreams), peersOf(first.upstreams)),
    reasons: last.reasons,
    total: added(servers.values()),
  };
}

/** The figures of the past, which the server has kept; locations are not among them. */
export function figuresOfPast({ seconds, servers, peers, reasons }: Past, locations: Figures['locations']): Figures {
  const zones = Object.entries(servers).map(([name, row]): [string, Row] => [
    name,
    {
      requests: row[0] ?? 0,
      classes: row.slice(1, 6),
      lost: row[6] ?? 0,
      received: row[7] ?? 0,
      sent: row[8] ?? 0,
      time: row[9] ?? 0,
      buckets: row.slice(10),
    },
  ]);
  const rows = new Map(zones);
  return {
    name: `last ${span(seconds * 1000)}`,
    seconds,
    servers: rows,
    locations,
    peers: new Map(
      Object.entries(peers).map(([name, row]) => [
        name,
        { ...NOTHING, requests: row[0] ?? 0, classes: row.slice(1, 6), lost: row[6] ?? 0, time: row[7] ?? 0, buckets: row.slice(8) },
      ]),
    ),
    reasons,
    total: added(rows.values()),
  };
}
