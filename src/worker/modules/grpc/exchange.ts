import type { Request } from '../../http/request/request.js';
import { escapeUri } from '../../http/syntax/uri-escape.js';
import { Http2Exchange } from '../../upstream/exchange/http2-exchange.js';
import type { Http2Headers } from '../../upstream/exchange/http2-head.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';

/** What a location's requests have in common, compiled. */
export interface GrpcPlan {
  readonly headers: Http2Headers;
  readonly maxStreams: number;
}

/** One request to a gRPC server. nginx: ngx_http_grpc_ctx_t and the functions around it. */
export class GrpcExchange extends Http2Exchange {
  readonly sendsBody = true;
  readonly maxStreams: number;
  readonly #plan: GrpcPlan;
  readonly #host: string;
  /** The method, where it is not the client's. */
  protected readonly method: string | undefined = undefined;

  /** `host`: the server as `grpc_pass` names it. */
  constructor(plan: GrpcPlan, host: string) {
    super();
    this.#plan = plan;
    this.#host = host;
    this.maxStreams = plan.maxStreams;
  }

  // nginx: ngx_http_grpc_create_request.
  createHead(u: UpstreamRequest): boolean {
    const { r } = u;
    const { headers } = this.#plan;
    let path = r.unparsedUri;
    if (!r.validUnparsedUri) {
      path = escapeUri(r.uri, 'uri');
      if (r.args !== '') {
        path += `?${r.args}`;
      }
    }
    u.askFor(path);
    const host = headers.host?.eval(r) ?? '';
    const { head } = this;
    head.begin(this.method ?? r.method, u.tls, path, host === '' ? this.#host : host);
    head.addLines(r, headers.lines, this.bodyLength(r));
    head.addClient(r, headers.replaced);
    return true;
  }

  protected bodyLength(r: Request): number {
    return r.requestBodyNoBuffering && r.chunkedIn ? -1 : r.contentLength;
  }

  override endSection(last: boolean): void {
    super.endSection(last);
    const u = this.request;
    // An answer of trailers alone has no body, whatever its head says of that.
    if (last && this.answered && u.head.contentLength === -1) {
      u.head.contentLength = 0;
    }
  }
}

/** A call on the server's own account: it posts one message. */
export class GrpcCall extends GrpcExchange {
  protected override readonly method = 'POST';

  constructor(plan: GrpcPlan, host: string, message: Buffer | undefined) {
    super(plan, host);
    this.requestText = message?.toString('latin1') ?? '';
  }

  protected override bodyLength(): number {
    return this.requestText.length;
  }
}
