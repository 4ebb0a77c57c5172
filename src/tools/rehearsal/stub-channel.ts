/** The protocols that backends are spoken to in. */
export type StubProtocol = 'http' | 'http2' | 'fastcgi' | 'scgi' | 'uwsgi' | 'memcached';

/** A request as a backend gets it. Texts are latin1. */
export interface BackendRequest {
  readonly protocol: StubProtocol;
  /** `10.0.0.1:8080`, `[::1]:80` or `unix:/path`. */
  readonly peer: string;
  readonly method: string;
  /** With its arguments; of memcached, the key. */
  readonly uri: string;
  /** Header fields in their order; of FastCGI, uwsgi and SCGI the parameters; of HTTP/2 without the pseudo-headers. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}
/** An answer with all defaults filled in. */
export interface CompleteAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** Reads requests of one connection in one protocol. */
export interface StubReader {
  /** Takes what was written; calls {@link StubChannel.answer} for each request that is complete. */
  written(bytes: Buffer): void;
}

/** What a reader is given of its connection. */
export interface StubChannel {
  /** Asks for the answer to a request, and notes it. Undefined: there is none. */
  answer(request: Omit<BackendRequest, 'peer'>): CompleteAnswer | undefined;
  send(bytes: Buffer | string): void;
  /** The backend closes. */
  end(): void;
}
