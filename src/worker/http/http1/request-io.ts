import type { Socket } from '../../../shared/net/socket.js';
import type { Deadline } from '../../time/deadline.js';
import type { ConnectionHost } from '../connection/connection-host.js';
import type { Lingering } from '../connection/lingering.js';
import type { TunnelOwner } from '../request/client-exchange.js';
import type { BodyReader } from './body-reader.js';
import { ClientInput } from './client-input.js';
import { HeadReader } from './head-reader.js';
import { Http1Output } from './http1-output.js';

/** As many as may be in use at a time before each request of more costs some memory of its own. */
const SPARE = 256;

/** What a connection reads requests and writes responses with. While it waits for a request it has none: many thousands may wait. */
export class RequestIo {
  readonly input = new ClientInput();
  readonly heads: HeadReader;
  readonly output: Http1Output;
  /** Of a request that has a body. */
  body: BodyReader | null = null;
  /** While bytes are read that nobody wants. */
  lingering: Lingering | null = null;
  /** The client has gone, or the connection has. */
  gone = false;
  /** Why reading failed, as log lines end: ` (104: Connection reset by peer)`. */
  failure = '';
  /** Once the connection is a tunnel. */
  tunnel: TunnelOwner | null = null;
  /** The next request came before the response to the one before it was complete. */
  pipelined = false;

  constructor(host: ConnectionHost) {
    this.heads = new HeadReader(host);
    this.output = new Http1Output(host.env.logFiles);
  }
}

/** Inputs and outputs that no connection has now, for the next ones that need one. */
export class RequestIos {
  readonly #host: ConnectionHost;
  readonly #spare: RequestIo[] = [];

  constructor(host: ConnectionHost) {
    this.#host = host;
  }

  take(socket: Socket, deadline: Deadline): RequestIo {
    const io = this.#spare.pop() ?? new RequestIo(this.#host);
    io.output.begin(socket, deadline);
    return io;
  }

  /** The connection waits for a request, and nothing of one has come yet. */
  give(io: RequestIo): void {
    if (this.#spare.length < SPARE) {
      this.#spare.push(io);
    }
  }
}

/** What HTTP/1 connections are given by whoever accepts them. */
export interface Http1Host extends ConnectionHost {
  readonly requestIos: RequestIos;
}
