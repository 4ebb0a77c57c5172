import type { Exchange } from '../../upstream/exchange/exchange.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { HEAD_OK } from '../../upstream/response/head-codes.js';

/**
 * A tunnel to a backend, which is asked for nothing: the client gets its 200 as soon as the connection is there, and the bytes of both
 * sides follow. nginx: ngx_http_tunnel_process_header.
 */
export class TunnelExchange implements Exchange {
  readonly requestText = '';
  readonly bodyFrame = undefined;
  readonly sendsBody = false;
  readonly makesHead = true;
  readonly endsWithConnection = true;
  readonly complete = false;
  readonly next = 0;

  createRequest(): boolean {
    return true;
  }

  reset(): void {}

  readHead(u: UpstreamRequest): number {
    u.head.status = 200;
    u.switchProtocols();
    return HEAD_OK;
  }

  beginBody(): void {}

  // There is no body: a tunnel takes over behind the head.
  readBody(): boolean {
    return false;
  }
}
