import type { Request } from './request.js';

/** What a request has to do with backends, as far as the request itself must know. nginx: ngx_http_upstream_t. */
export interface UpstreamWork {
  /** Whom it is for. */
  readonly r: Request;
  /** The client of the request has gone; `reason`: see {@link ClientWatcher}. */
  clientGone(r: Request, reason: string | null): void;
  /**
   * The response is given up. Returns whether the work goes on without anybody who takes it, because what it brings is kept: its end
   * ends the request.
   */
  outlive(): boolean;
  /** Gives up what is still under way; called when the request ends, however it ends. */
  cleanup(): void;
  /** Names the backend in log lines; undefined while none was chosen. nginx: ngx_http_log_error_handler. */
  logText(): string | undefined;
  /** What every backend that was asked did wrong, for `$error_reason`; empty when nothing is known. `status`: what is answered. */
  failureText(status: number): string;
}
