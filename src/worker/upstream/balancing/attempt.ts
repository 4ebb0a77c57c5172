/** What `$upstream_*` tell of one attempt at a backend. Times are milliseconds, -1 until known. nginx: ngx_http_upstream_state_t. */
export class Attempt {
  /** Who was asked; undefined in the entry that stands between two requests to backends. */
  peer: string | undefined = undefined;
  /** No connection was begun, for want of the local address or of a descriptor: `$upstream_addr` names nobody, as in nginx. */
  unbegun = false;
  status = 0;
  connectTime = 0;
  headerTime = 0;
  responseTime = 0;
  responseLength = 0;
  bytesReceived = 0;
  bytesSent = 0;
  /** Why the attempt failed, in a few words; for `$error_reason`. */
  reason = '';
}
