import type { Attempt } from '../../upstream/balancing/attempt.js';

/** A session's business with backends, as far as logs and variables know it. nginx: ngx_stream_upstream_t. */
export interface SessionUpstream {
  /** The latest peer. */
  readonly name: string | undefined;
  /** What `$upstream_*` tell, attempt by attempt. */
  readonly attempts: readonly Attempt[];
  /** What went both ways, for log lines: `bytes from/to client:1/2, bytes from/to upstream:2/1`. */
  transferred(): string;
  /** Gives back the peer and closes the connection to it: the session is over. */
  release(): void;
}
