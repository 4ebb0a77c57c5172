import { BUCKETS } from './histogram.js';

/** How the workers' values of a field become one: they are added, the greatest counts, or a worker's share ends with the worker. */
type Merge = 'sum' | 'latest' | 'gauge';

/** What a kind of meter counts: the place of each field in the row of numbers. */
export interface MeterKind {
  readonly id: string;
  /** How many numbers a row has. */
  readonly length: number;
  /** By place, how the values of workers are put together. */
  readonly merge: readonly Merge[];
  /** Statuses are counted one by one, too. */
  readonly codes: boolean;
}

/** Bounds in milliseconds of the histogram that NGINX Plus shows of peers. */
export const PLUS_BOUNDS = [5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000] as const;

interface KindText {
  readonly id: string;
  readonly gauges?: readonly string[];
  readonly latest?: readonly string[];
  readonly codes?: boolean;
}

function kind(fields: Readonly<Record<string, number>>, length: number, { id, gauges, latest, codes }: KindText): MeterKind {
  const merge: Merge[] = new Array(length).fill('sum');
  for (const name of gauges ?? []) {
    merge[fields[name]!] = 'gauge';
  }
  for (const name of latest ?? []) {
    merge[fields[name]!] = 'latest';
  }
  return { id, length, merge, codes: codes === true };
}

/** Handshakes of TLS, with a client or with a backend, from the place where a row has them. */
export const TLS_METER = {
  handshakes: 0,
  failed: 1,
  reuses: 2,
  noCommonProtocol: 3,
  noCommonCipher: 4,
  timeout: 5,
  rejected: 6,
  noCert: 7,
  expiredCert: 8,
  revokedCert: 9,
  hostnameMismatch: 10,
  otherCert: 11,
} as const;
const TLS_LENGTH = 12;

/** The methods that are counted by name. The last place is for all others. */
export const COUNTED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'other'] as const;

/**
 * A virtual server or a location. `class1` to `class5` and the methods stand in a row. Times are milliseconds. For a server of `stream`,
 * requests are sessions, whose statuses have classes as well, and which have no methods.
 */
export const ZONE = {
  processing: 0,
  requests: 1,
  discarded: 2,
  received: 3,
  sent: 4,
  class1: 5,
  methods: 10,
  time: 18,
  tls: 19,
  buckets: 19 + TLS_LENGTH,
} as const;
const ZONE_LENGTH = ZONE.buckets + BUCKETS;

export const serverKind = kind(ZONE, ZONE_LENGTH, { id: 'server', gauges: ['processing'], codes: true });
export const locationKind = kind(ZONE, ZONE_LENGTH, { id: 'location', gauges: ['processing'], codes: true });
export const streamServerKind = kind(ZONE, ZONE_LENGTH, { id: 'stream_server', gauges: ['processing'] });

/**
 * A peer of a group. `selected` and `downSince` are milliseconds of the wall clock. For a peer of `stream`, requests are connections,
 * headers are first bytes, and responses are sessions.
 */
export const PEER = {
  active: 0,
  requests: 1,
  class1: 2,
  sent: 7,
  received: 8,
  fails: 9,
  unavail: 10,
  headers: 11,
  headerTime: 12,
  responses: 13,
  responseTime: 14,
  selected: 15,
  downSince: 16,
  /** Connections of `stream` that were made, and how long that took. */
  connects: 17,
  connectTime: 18,
  tls: 19,
  plus: 19 + TLS_LENGTH,
  buckets: 19 + TLS_LENGTH + PLUS_BOUNDS.length + 1,
} as const;
const PEER_MERGE = { gauges: ['active'], latest: ['selected', 'downSince'] } as const;
export const peerKind = kind(PEER, PEER.buckets + BUCKETS, { id: 'peer', ...PEER_MERGE, codes: true });
export const streamPeerKind = kind(PEER, PEER.buckets + BUCKETS, { id: 'stream_peer', ...PEER_MERGE });

/** What a group's workers hold open without a request. */
export const groupKind = kind({ idle: 0 }, 1, { id: 'group', gauges: ['idle'] });

/** A cache: for each of {@link CACHE_STATUSES} responses and bytes, and what of them was written to the cache. */
export const CACHE_STATUSES = ['HIT', 'STALE', 'UPDATING', 'REVALIDATED', 'MISS', 'EXPIRED', 'BYPASS'] as const;
export const CACHE = { responses: 0, bytes: 7, responsesWritten: 14, bytesWritten: 21 } as const;
export const cacheKind = kind(CACHE, 28, { id: 'cache' });

/** What `limit_req` and `limit_conn` decided. */
export const LIMIT = { passed: 0, delayed: 1, rejected: 2, delayedDryRun: 3, rejectedDryRun: 4 } as const;
export const limitReqKind = kind(LIMIT, 5, { id: 'limit_req' });
export const limitConnKind = kind(LIMIT, 5, { id: 'limit_conn' });
export const streamLimitConnKind = kind(LIMIT, 5, { id: 'stream_limit_conn' });

/** What a way to show who one is has decided: `failed` counts what could not be decided, as without keys. */
export const AUTH = { passed: 0, refused: 1, failed: 2 } as const;
export const authKind = kind(AUTH, 3, { id: 'auth' });

/** Logins at an OpenID Provider: requests with a session, logins that succeeded or failed, refreshes likewise, sessions that were ended. */
export const LOGIN = { requests: 0, logins: 1, failures: 2, refreshes: 3, refreshFailures: 4, logouts: 5 } as const;
export const loginKind = kind(LOGIN, 6, { id: 'login' });

/** A resolver's questions and their outcomes. */
export const RESOLVER = {
  name: 0,
  srv: 1,
  addr: 2,
  noerror: 3,
  formerr: 4,
  servfail: 5,
  nxdomain: 6,
  notimp: 7,
  refused: 8,
  timedout: 9,
  unknown: 10,
} as const;
export const resolverKind = kind(RESOLVER, 11, { id: 'resolver' });

/** All handshakes with clients together, and all with backends. */
export const tlsKind = kind(TLS_METER, TLS_LENGTH, { id: 'ssl' });
export const backendTlsKind = kind(TLS_METER, TLS_LENGTH, { id: 'backend_ssl' });

/** How often the server itself answered with an error for one reason. */
export const reasonKind = kind({ count: 0 }, 1, { id: 'reason' });

/** A handler in JavaScript. `time` and `longest` are milliseconds of JavaScript until a run returned or waited for something. */
export const JS = { runs: 0, errors: 1, timeouts: 2, time: 3, longest: 4 } as const;
export const jsKind = kind(JS, 5, { id: 'js', latest: ['longest'] });

/**
 * The store of a fleet: questions, those that failed or were not answered in time, how often it was lost, what was decided without it, and
 * what was refused by what it had said before. `up` counts the workers that have it. Times of answers are milliseconds.
 */
export const STORE = { up: 0, calls: 1, errors: 2, timeouts: 3, losses: 4, local: 5, known: 6, time: 7, buckets: 8 } as const;
export const storeKind = kind(STORE, STORE.buckets + BUCKETS, { id: 'store', gauges: ['up'] });

/**
 * What the master does. Times are milliseconds of the wall clock: `refusedAt` of the last reload that failed or was refused, `readyAt` of
 * the moment when every worker accepted, `endingAt` of the request to end.
 */
export const SERVICE = {
  generation: 0,
  respawned: 1,
  loadedAt: 2,
  refused: 3,
  refusedAt: 4,
  readyAt: 5,
  endingAt: 6,
  linesLost: 7,
} as const;
export const serviceKind = kind(SERVICE, 8, { id: 'service', latest: ['loadedAt', 'refusedAt', 'readyAt', 'endingAt'] });

/** What was taken off the totals of connections and requests when the API's counters were set to zero. */
export const RESET = { accepted: 0, dropped: 1, requests: 2 } as const;
export const resetKind = kind(RESET, 3, { id: 'reset' });
