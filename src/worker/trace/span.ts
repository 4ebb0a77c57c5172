/** OpenTelemetry's numbers for the kinds of spans. */
export const SERVER = 1;
export const CLIENT = 2;

/** Names and values in turns. Texts are latin1, one character a byte; a value in a list of its own is an array. */
export type Attributes = readonly (string | number | readonly string[])[];

/** Name, milliseconds since 1970, attributes. */
export type SpanEvent = readonly [name: string, time: number, attributes: Attributes];

/** A span on its way to the thread that exports it: a list, which JSON writes faster than an object with names. */
export type Span = readonly [
  name: string,
  kind: typeof SERVER | typeof CLIENT,
  traceId: string,
  spanId: string,
  /** Empty for none. */
  parentId: string,
  /** The text of `tracestate`; empty for none. */
  state: string,
  /** Milliseconds since 1970, with fractions. */
  start: number,
  end: number,
  failed: boolean,
  /** Why it failed, or empty. */
  message: string,
  attributes: Attributes,
  events: readonly SpanEvent[],
  droppedEvents: number,
];

/** Where spans go, and on whose behalf. */
export interface SpanTarget {
  readonly protocol: 'grpc' | 'http/protobuf' | 'http/json';
  /** For gRPC `host:port`, for HTTP the whole URL. */
  readonly url: string;
  readonly tls: boolean;
  /** Certificates (PEM) of the authorities that the collector's is checked against; undefined for those of Node. */
  readonly authorities: string | undefined;
  /** Names in lower case and values. */
  readonly headers: readonly (readonly [string, string])[];
  readonly resource: readonly (readonly [string, string])[];
  readonly version: string;
}

/** What the thread is told. */
export type ThreadOrder =
  /** A JSON list of {@link Span}. */
  | { readonly t: 'batch'; readonly id: number; readonly spans: string }
  /** Nothing follows: the first of the shared numbers becomes 1, and whoever waits for it wakes up, when all is sent or has failed. */
  | { readonly t: 'end'; readonly done: SharedArrayBuffer };

/** What became of a batch; without an error it has arrived. */
export interface ThreadReport {
  readonly id: number;
  readonly error?: string;
}
