import { INFO } from '../../../shared/log/level.js';
import type { ConnectionHost } from '../connection/connection-host.js';
import type { ClientExchange } from '../request/client-exchange.js';
import { headSlot } from '../request/client-settings.js';
import { TO_HTTPS } from '../request/codes.js';
import type { ServerRuntime } from '../request/http-runtime.js';
import { Request } from '../request/request.js';
import { chooseServer } from '../serving/choose-server.js';
import { takeHead } from '../serving/take-head.js';
import { HEAD_DONE, HEAD_INCOMPLETE, type HeadOwner, type HeadParser } from '../syntax/head-parser.js';
import { METHOD } from '../syntax/method.js';
import { CONNECTION_KEEP_ALIVE, CONNECTION_UNSET, type RequestHead } from '../syntax/request-head.js';
import { HTTP_10 } from '../syntax/request-line.js';
import type { ClientInput } from './client-input.js';

/** Whose heads are read. */
export interface HeadClient extends ClientExchange {
  /** Serves requests until they name another. */
  readonly server: ServerRuntime;
  /** The name that the TLS handshake was for, when a server answers to it. */
  readonly serverName: string | undefined;
  /** Plain HTTP came where TLS was expected. */
  readonly plainOnTls: boolean;
}

/**
 * Reads the heads of a connection's requests, one after another. nginx: ngx_http_process_request_line,
 * ngx_http_process_request_headers.
 */
export class HeadReader implements HeadOwner {
  readonly #host: ConnectionHost;
  /** While a head is being read. */
  #client: HeadClient | null = null;
  #parser: HeadParser | null = null;
  #request: Request | null = null;

  constructor(host: ConnectionHost) {
    this.#host = host;
  }

  /** What log lines say is being done. */
  get action(): string | undefined {
    if (this.#parser === null) {
      return undefined;
    }
    return this.#parser.inHeaders ? 'reading client request headers' : 'reading client request line';
  }

  /** A request begins. */
  begin(client: HeadClient, now: number): Request {
    const { server } = client;
    const parser = this.#host.takeParser(server.conf(headSlot).headLimits, this);
    this.#client = client;
    this.#parser = parser;
    const r = new Request(client, server, parser.head, null, now);
    this.#request = r;
    return r;
  }

  /** Reads the bytes at hand. Returns `HEAD_AGAIN`, `HEAD_DONE`, or the status to answer with. */
  read(input: ClientInput): number {
    const parser = this.#parser as HeadParser;
    const code = parser.parse(input.bytes, input.at, input.end);
    if (code === HEAD_INCOMPLETE) {
      input.use(input.end);
      return HEAD_INCOMPLETE;
    }
    const r = this.#request as Request;
    const { plainOnTls } = this.#client as HeadClient;
    const head = parser.head;
    input.use(head.end);
    takeHead(r, head);
    const keeps = head.connection === CONNECTION_UNSET ? head.version > HTTP_10 : head.connection === CONNECTION_KEEP_ALIVE;
    r.keepalive = keeps && r.methodBit !== METHOD.CONNECT;
    r.lingeringClose = head.lingeringClose;
    if (code !== HEAD_DONE) {
      if (head.error !== '') {
        r.log(INFO, head.error);
      }
    } else if (plainOnTls) {
      r.log(INFO, 'client sent plain HTTP request to HTTPS port');
    }
    this.#client = null;
    this.#parser = null;
    this.#request = null;
    this.#host.giveParser(parser);
    return code === HEAD_DONE && plainOnTls ? TO_HTTPS : code;
  }

  /** The rest of the head does not come: the request is what has been read of it. */
  abandon(): void {
    const r = this.#request as Request;
    (this.#parser as HeadParser).abandon();
    takeHead(r, r.head);
  }

  // HeadOwner: the host is known, so the right server's settings count from here on.
  selectServer(head: RequestHead): number {
    const r = this.#request as Request;
    const status = chooseServer(r, head.host, (this.#client as HeadClient).serverName);
    (this.#parser as HeadParser).limits = r.server.conf(headSlot).headLimits;
    return status;
  }

  ignoredHeader(head: RequestHead, line: string): void {
    const r = this.#request as Request;
    // The log line names it. The rest of the head is taken over once it is whole.
    r.line = head.line;
    r.log(INFO, `client sent invalid header line: "${line}"`);
  }
}
