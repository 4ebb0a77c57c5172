// What the server tells; names are those of its JSON.

export interface Responses {
  readonly '1xx': number;
  readonly '2xx': number;
  readonly '3xx': number;
  readonly '4xx': number;
  readonly '5xx': number;
  readonly codes: Readonly<Record<string, number>>;
  readonly total: number;
}

export interface Zone {
  readonly processing?: number;
  readonly requests: number;
  readonly responses: Responses;
  readonly discarded: number;
  readonly received: number;
  readonly sent: number;
  /** Milliseconds. */
  readonly time: number;
  readonly buckets: readonly number[];
}

export interface Peer {
  readonly id: number;
  readonly server: string;
  readonly name: string;
  readonly backup: boolean;
  readonly weight: number;
  readonly state: 'up' | 'draining' | 'down' | 'unavail' | 'checking' | 'unhealthy';
  readonly active: number;
  readonly requests: number;
  readonly responses: Responses;
  readonly response_time?: number;
  readonly p95: number;
  /** Milliseconds in all. */
  readonly time: number;
  readonly buckets: readonly number[];
  /** The name of its counts in the history. */
  readonly meter: string;
  readonly fails: number;
  readonly unavail: number;
  readonly health_checks: { readonly checks: number; readonly fails: number; readonly last_passed?: boolean };
  readonly downstart?: string;
}

export interface Group {
  readonly peers: readonly Peer[];
  readonly keepalive: number;
  readonly zone?: string;
}

/** A server of `stream`. */
export interface StreamZone {
  readonly processing: number;
  readonly connections: number;
  readonly sessions: { readonly '2xx': number; readonly '4xx': number; readonly '5xx': number; readonly total: number };
  readonly discarded: number;
  readonly received: number;
  readonly sent: number;
  readonly buckets: readonly number[];
}

export interface StreamPeer extends Omit<Peer, 'requests' | 'responses'> {
  readonly connections: number;
  readonly connect_time?: number;
  readonly first_byte_time?: number;
  readonly sent: number;
  readonly received: number;
}

export interface Keyvals {
  readonly name: string;
  readonly of: 'http' | 'stream';
  readonly type: string;
  readonly timeout: number;
  readonly state: boolean;
  readonly count: number;
  readonly pairs: readonly { readonly key: string; readonly value: string; readonly ends: number | null }[];
}

interface Part {
  readonly responses: number;
  readonly bytes: number;
}

export interface Cache {
  readonly size: number;
  readonly max_size?: number;
  readonly cold: boolean;
  readonly hit: Part;
  readonly stale: Part;
  readonly updating: Part;
  readonly revalidated: Part;
  readonly miss: Part;
  readonly expired: Part;
  readonly bypass: Part;
}

export interface Limit {
  readonly passed: number;
  readonly delayed?: number;
  readonly rejected: number;
  readonly delayed_dry_run?: number;
  readonly rejected_dry_run: number;
}

export interface Worker {
  readonly id: number;
  readonly pid: number;
  readonly connections: { readonly accepted: number; readonly dropped: number; readonly active: number; readonly idle: number };
  readonly http: { readonly requests: { readonly total: number; readonly current: number } };
}

export interface SharedZone {
  readonly name: string;
  readonly kind: string;
  readonly size: number;
  readonly used: number;
  readonly entries: number;
  readonly evictions: number;
  readonly rejections: number;
}

export interface Certificate {
  readonly server: string;
  readonly subject: string;
  readonly issuer: string;
  readonly notAfter: number;
}

/** A machine of a fleet, as it has told of itself. */
export interface Machine {
  readonly node: string;
  /** When it told so; a date. */
  readonly seen: string;
  readonly version: string;
  readonly configuration_loaded: string;
  readonly workers: number;
  readonly workers_up: number;
  readonly connections: { readonly active: number; readonly waiting: number };
  readonly requests: { readonly total: number; readonly rate: number; readonly '5xx': number };
  readonly decided_locally: number;
}

/** The store that machines share. */
export interface Fleet {
  readonly name: string;
  readonly node: string;
  readonly state: 'up' | 'partly' | 'lost';
  readonly workers_up: number;
  readonly calls: number;
  readonly errors: number;
  readonly timeouts: number;
  readonly losses: number;
  readonly decided_locally: number;
  readonly refused_without_question: number;
  readonly round_trip_ms: { readonly median: number; readonly p99: number };
  readonly machines: readonly Machine[];
}

type Named<T> = Readonly<Record<string, T>>;

export interface State {
  readonly now: number;
  readonly version: string;
  readonly write: boolean;
  /** The configuration and the log are shown. */
  readonly config: boolean;
  readonly workers_configured: number;
  readonly history: boolean;
  readonly service: {
    readonly generation: number;
    readonly loadedAt: number;
    readonly respawned: number;
    readonly refused: number;
    readonly refusedAt: number;
  };
  readonly connections: { readonly accepted: number; readonly dropped: number; readonly active: number; readonly idle: number };
  readonly requests: { readonly total: number; readonly current: number };
  readonly workers: readonly Worker[];
  readonly zones: readonly SharedZone[];
  readonly servers: Named<Zone>;
  readonly locations: Named<Zone>;
  readonly upstreams: Named<Group>;
  readonly stream: {
    readonly servers: Named<StreamZone>;
    readonly upstreams: Named<{ readonly peers: readonly StreamPeer[]; readonly zone?: string }>;
    readonly limit_conns: Named<Limit>;
  } | null;
  readonly keyvals: readonly Keyvals[];
  readonly caches: Named<Cache>;
  readonly limit_reqs: Named<Limit>;
  readonly limit_conns: Named<Limit>;
  readonly resolvers: Named<{ readonly requests: Named<number>; readonly responses: Named<number> }>;
  readonly ssl: { readonly handshakes: number; readonly handshakes_failed: number; readonly session_reuses: number };
  readonly certificates: readonly Certificate[];
  /** null without a store that machines share. */
  readonly fleet: Fleet | null;
  readonly reasons: readonly Reason[];
}

/** What happened in all the time of a chart, by name: rows as the history keeps them. */
export interface Past {
  readonly seconds: number;
  readonly servers: Named<readonly number[]>;
  readonly peers: Named<readonly number[]>;
  readonly reasons: readonly Reason[];
}

/** Charts of the past; lists have one number an interval. */
export interface Series {
  readonly step: number;
  /** Undefined for what the page has seen itself. */
  readonly past?: Past;
  readonly at: number[];
  readonly classes: number[][];
  readonly quantiles: number[][];
  readonly connections: number[][];
  readonly received: number[];
  readonly sent: number[];
}

/** `path`: that of the location, as the configuration has it. */
export interface Reason {
  readonly reason: string;
  readonly path: string;
  readonly count: number;
}

/** A block of the configuration. */
export interface Outlined {
  readonly text: string;
  readonly file: string;
  readonly line: number;
  readonly zone?: string;
  readonly upstream?: string;
  readonly inside: readonly Outlined[];
}

/** `text` is null for what is too much. */
export interface Texts {
  readonly globals: string;
  readonly files: readonly { readonly path: string; readonly text: string | null }[];
}

export interface Kept {
  readonly id: number;
  readonly entry: string;
  readonly periods: readonly {
    readonly from: string;
    readonly by: string | null;
    readonly until: string | null;
    readonly why: string | null;
  }[];
}

export interface Configuration extends Texts {
  readonly entry: string;
  readonly outline: {
    readonly servers: readonly Outlined[];
    readonly upstreams: readonly Outlined[];
    readonly stream: { readonly servers: readonly Outlined[]; readonly upstreams: readonly Outlined[] };
  };
  readonly service: State['service'];
  readonly history: {
    readonly serving: number | null;
    readonly rolledBack: boolean;
    readonly since: string;
    readonly by: string | null;
    readonly reload: {
      readonly at: string;
      readonly by: string | null;
      readonly outcome: 'running' | 'done' | 'refused';
      readonly text: string;
    } | null;
    readonly kept: readonly Kept[];
  } | null;
}
