// Longer than most: the states of one client connection and what leads from one to the next, which only make sense together.

import { errnoText } from '../../../shared/lib/errno.js';
import { DEBUG, INFO } from '../../../shared/log/level.js';
import type { ClientSocket, SocketOwner } from '../../../shared/net/client-socket.js';
import { enter, leave, now } from '../../client/at-work.js';
import type { HeldConnection } from '../../client/connections.js';
import type { DebugClients } from '../../client/debug-clients.js';
import type { Idle } from '../../client/idle-queue.js';
import { Deadline, type Expiring } from '../../io/deadline.js';
import { checkClientCertificate } from '../../tls/request-check.js';
import type { ConnectionHost } from '../connection/connection-host.js';
import { KnownClient } from '../connection/known-client.js';
import { Lingering, mustLinger } from '../connection/lingering.js';
import type { Opened } from '../connection/opened.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import type { Chunk } from '../request/body-stage.js';
import type { BodySink, ClientConnection, ClientStream, ClientTunnel, ClientWatcher, TunnelOwner } from '../request/client-stream.js';
import { CLIENT_CLOSED_REQUEST } from '../request/codes.js';
import type { Request } from '../request/request.js';
import { refuseRequest, startRequest } from '../request/start-request.js';
import { HEAD_AGAIN, HEAD_DONE } from '../syntax/head-parser.js';
import { BODY_READ, BODY_SINK_GONE, BodyReader } from './body-reader.js';
import { ClientInput } from './client-input.js';
import { ConnectionTunnel } from './client-tunnel.js';
import { HeadReader } from './head-reader.js';
import { Http1Output } from './http1-output.js';

/** Where a connection stands. */
const State = { WAITING: 0, HEAD: 1, REQUEST: 2, DISCARDING: 3, LINGERING: 4, TUNNEL: 5, CLOSED: 6 } as const;

/**
 * One HTTP/1 client connection: reads heads, runs one request at a time, frames bodies both ways, keeps the connection
 * or closes it gently. nginx: ngx_http_request.c.
 */
export class Http1Connection extends KnownClient implements HeldConnection, ClientStream, SocketOwner, Expiring, Idle {
  idleBefore: Idle | null = null;
  idleAfter: Idle | null = null;
  #action: string | undefined = 'waiting for request';

  readonly #host: ConnectionHost;
  readonly #socket: ClientSocket;
  readonly #deadline: Deadline;
  readonly #input = new ClientInput();
  readonly #heads: HeadReader;
  readonly #output: Http1Output;
  #state: number = State.WAITING;
  #request: Request | null = null;
  #draining = false;
  #idleSince = 0;
  /** Of a request that has a body. */
  #body: BodyReader | null = null;
  /** While bytes are read that nobody wants. */
  #lingering: Lingering | null = null;

  #watcher: ClientWatcher | null = null;

  constructor(
    host: ConnectionHost,
    socket: ClientSocket,
    address: AddressRuntime,
    id: number,
    debugClients: DebugClients | undefined,
    opened: Opened | undefined,
  ) {
    super(socket, address, id, debugClients, opened);
    this.#host = host;
    this.#socket = socket;
    this.#idleSince = this.acceptedAt;
    this.#heads = new HeadReader(host, this.server, opened);
    this.#deadline = opened?.deadline ?? new Deadline(this);
    this.#deadline.passTo(this);
    this.#output = new Http1Output(socket, this.#deadline, host.env.logFiles);
    host.counters.waiting++;
    host.counters.changed();
  }

  /** Begins to read. */
  start(): void {
    this.#deadline.set(this.acceptedAt, this.server.settings.clientHeaderTimeout);
    this.#host.idle.add(this);
    this.#socket.start(this);
    this.noteAccept();
  }

  get descriptor(): number {
    return this.#socket.descriptor;
  }

  get action(): string | undefined {
    return this.#action ?? this.#heads.action;
  }

  set action(action: string | undefined) {
    this.#action = action;
  }

  get connection(): ClientConnection {
    return this;
  }

  // ---------------------------------------------------------------- reading

  received(bytes: Buffer, length: number, shared: boolean): boolean {
    if (this.#state === State.LINGERING) {
      this.#linger();
      return true;
    }
    if (this.#state === State.TUNNEL) {
      const before = enter(this.#request);
      this.#tunnel!.clientSent(bytes, 0, length);
      leave(before);
      return true;
    }
    if (this.#state === State.CLOSED) {
      return false;
    }
    this.#input.add(bytes, length, shared);
    this.#run();
    return !this.#input.paused;
  }

  /** Once the connection is a tunnel. */
  #tunnel: TunnelOwner | null = null;

  /** Uses the bytes at hand for as long as something wants them; keeps the rest. */
  #run(): void {
    const input = this.#input;
    input.run();
    while (input.at < input.end && this.#step()) {}
    input.rest(this.#state !== State.CLOSED && this.#state !== State.LINGERING);
    if (this.#output.pendingHead) {
      this.#output.flushSoon();
    }
    if (input.enough && this.#state !== State.HEAD) {
      input.pause(this.#socket);
    }
    if (input.ended) {
      this.inputEnded();
    }
  }

  /** One step with the bytes at hand. Returns false when nothing wants them now. */
  #step(): boolean {
    switch (this.#state) {
      case State.WAITING:
        this.#beginHead();
        return true;
      case State.HEAD:
        return this.#readHead();
      case State.REQUEST:
        return this.#body?.wanted === true && this.#readBodyBytes(this.#body);
      case State.DISCARDING:
        return this.#readBodyBytes(this.#body as BodyReader);
      default:
        return false;
    }
  }

  #beginHead(): void {
    this.#state = State.HEAD;
    this.#action = undefined;
    this.#host.idle.remove(this);
    const counters = this.#host.counters;
    counters.waiting--;
    counters.reading++;
    counters.requests++;
    counters.changed();
    this.requests++;
    const r = this.#heads.begin(this, this.#input.now);
    r.pipelined = this.#pipelined;
    this.#request = r;
    this.#deadline.set(r.startTime, r.server.settings.clientHeaderTimeout);
  }

  #pipelined = false;
  #readHead(): boolean {
    const r = this.#request as Request;
    const code = this.#heads.read(this.#input);
    if (code === HEAD_AGAIN) {
      return false;
    }
    this.#deadline.clear();
    this.#state = State.REQUEST;
    const counters = this.#host.counters;
    counters.reading--;
    counters.writing++;
    counters.changed();
    if (r.chunkedIn || r.contentLength > 0) {
      this.#body = new BodyReader(r);
      this.#socket.expectMuch(true);
      r.lingeringClose = true;
    }
    if (code !== HEAD_DONE) {
      r.keepalive = false;
      refuseRequest(r, code);
      return true;
    }
    const refusal = this.tls === undefined ? 0 : checkClientCertificate(r);
    if (refusal === 0) {
      startRequest(r);
    } else {
      refuseRequest(r, refusal);
    }
    return true;
  }

  #readBodyBytes(body: BodyReader): boolean {
    const before = enter(body.request);
    const goOn = this.#bodyBytes(body);
    leave(before);
    return goOn;
  }

  #bodyBytes(body: BodyReader): boolean {
    const status = body.read(this.#input);
    if (status === BODY_SINK_GONE) {
      return true;
    }
    if (status !== BODY_READ) {
      this.#bodyFailed(body, status);
      return false;
    }
    if (body.done) {
      this.#bodyEnded(body);
    } else if (this.#state === State.DISCARDING) {
      this.#linger();
    } else if (!body.paused) {
      this.#awaitBody(body);
    }
    return this.#state !== State.CLOSED;
  }

  #bodyEnded(body: BodyReader): void {
    if (this.#state === State.DISCARDING) {
      this.#afterResponse(this.#request as Request);
      return;
    }
    this.#deadline.clear();
    this.#action = undefined;
    body.end();
  }

  #bodyFailed(body: BodyReader, status: number): void {
    body.request.keepalive = false;
    body.request.lingeringClose = false;
    if (!body.fail(status) && this.#state === State.DISCARDING) {
      this.#close();
    }
  }

  #awaitBody(body: BodyReader): void {
    this.#deadline.set(performance.now(), body.request.location.settings.clientBodyTimeout);
  }

  bodyDone(_r: Request): boolean {
    return this.#body === null || this.#body.done;
  }

  readBody(_r: Request, sink: BodySink): void {
    const body = this.#body;
    if (body === null || body.done) {
      sink.end();
      return;
    }
    body.start(sink);
    this.#action = 'reading client request body';
    this.#awaitBody(body);
    this.#wake();
    if (this.#input.ended) {
      process.nextTick(inputEnded, this);
    }
  }

  discardBody(_r: Request): number {
    return this.#body === null ? 0 : this.#body.discard(this.#input);
  }

  resumeBody(_r: Request): void {
    const body = this.#body;
    if (!body?.resume()) {
      return;
    }
    if (!body.done) {
      this.#awaitBody(body);
    }
    this.#wake();
  }

  /** Goes on with bytes that were kept, unless the loop is running anyway, and with reading. */
  #wake(): void {
    const input = this.#input;
    if (input.running) {
      return;
    }
    if (input.unread) {
      this.#run();
    }
    if (!input.enough) {
      this.#resume();
    }
  }

  #resume(): void {
    if (!this.closed) {
      this.#input.resume(this.#socket);
    }
  }

  // ---------------------------------------------------------------- sending

  sendContinue(r: Request): void {
    this.#output.sendContinue(r);
  }

  sendInformational(r: Request, status: number, fields: readonly string[]): void {
    if (!this.closed) {
      this.#output.sendInformational(r, status, fields);
    }
  }

  sendHead(r: Request): void {
    if (this.#host.draining) {
      r.keepalive = false;
    }
    this.#action = 'sending response to client';
    this.#output.sendHead(r);
    // While the loop runs, it looks itself whether a body came to take the head along.
    if (!this.#input.running && this.#output.pendingHead) {
      this.#output.flushSoon();
    }
  }

  flush(_r: Request): void {
    if (!this.closed) {
      this.#output.flush();
    }
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    if (!this.closed) {
      this.#output.send(r, chunk, last);
    }
  }

  sendLent(r: Request, bytes: Buffer, start: number, end: number, last: boolean): void {
    if (!this.closed) {
      this.#output.sendLent(r, bytes, start, end, last);
    }
  }

  offerLimit(r: Request): number {
    return this.#output.offerLimit(r);
  }

  offer(r: Request, bytes: Chunk): number {
    return this.closed ? 0 : this.#output.offer(r, bytes);
  }

  offerFile(r: Request, fd: number, at: number, size: number): number {
    return this.closed ? 0 : this.#output.offerFile(r, fd, at, size);
  }

  // ---------------------------------------------------------------- the end of a request

  finish(r: Request): void {
    if (r !== this.#request) {
      return;
    }
    this.#output.reset();
    this.#watcher = null;
    this.#deadline.clear();
    this.#action = undefined;
    const body = this.#body;
    body?.forgetSink();
    if (body !== null && !body.done) {
      // What is left of the body must not be taken for a request.
      if (!r.discardingBody || this.#input.ended) {
        r.keepalive = false;
        r.lingeringClose = true;
      }
      if (r.keepalive) {
        this.#state = State.DISCARDING;
        this.#lingering = new Lingering(this.#deadline, r.location.settings);
        this.#linger();
        this.#wake();
        return;
      }
    }
    this.#afterResponse(r);
  }

  /** Keeps the connection for the next request or closes it. nginx: ngx_http_finalize_connection. */
  #afterResponse(r: Request): void {
    const settings = r.location.settings;
    const counters = this.#host.counters;
    const input = this.#input;
    if (this.#body !== null) {
      this.#socket.expectMuch(false);
    }
    this.#body = null;
    this.#lingering = null;
    if (input.ended && !input.unread) {
      this.#close();
      return;
    }
    // A worker that leaves keeps what its response said it would, for as long as a next request may be on its way.
    const timeout = this.#host.draining ? settings.keepaliveMinTimeout : Math.max(settings.keepaliveTimeout, settings.keepaliveMinTimeout);
    if (r.keepalive && timeout > 0) {
      counters.writing--;
      counters.waiting++;
      counters.changed();
      this.#request = null;
      this.#state = State.WAITING;
      this.#action = 'keepalive';
      this.log = r.location.log;
      if (r.debugging) {
        r.log(DEBUG, 'set http keepalive handler');
      }
      const time = input.running ? input.now : now();
      this.#idleSince = time;
      this.#pipelined = input.unread;
      if (!this.#pipelined) {
        this.#host.idle.add(this);
      }
      this.#keepaliveMin = settings.keepaliveMinTimeout;
      this.#deadline.set(time, timeout);
      this.#host.countStatus(r);
      if (this.#pipelined && !input.running) {
        setImmediate(wakeLater, this);
      }
      return;
    }
    if (mustLinger(r, input.unread)) {
      this.#lingerBeforeClose(r);
    } else {
      this.#close();
    }
  }

  #keepaliveMin = 0;

  /** For a pipelined request after the response before it. */
  wake(): void {
    if (this.#state === State.WAITING) {
      this.#wake();
    }
  }

  #lingerBeforeClose(r: Request): void {
    this.#state = State.LINGERING;
    this.#input.drop();
    const lingering = new Lingering(this.#deadline, r.location.settings);
    this.#lingering = lingering;
    lingering.halfClose(this.#socket, this.#host.env.logFiles);
    if (this.#input.ended) {
      this.#close();
      return;
    }
    this.#host.idle.add(this);
    this.#linger();
    this.#resume();
  }

  #linger(): void {
    if (!(this.#lingering as Lingering).wait()) {
      this.#close();
    }
  }

  terminate(r: Request, reset: boolean): void {
    if (r !== this.#request) {
      return;
    }
    if (reset) {
      this.#socket.reset();
    }
    // What the client did not take is of no use without the rest.
    else if (!this.#socket.empty) {
      this.#socket.close();
    }
    this.#close();
  }

  watchClient(_r: Request, watcher: ClientWatcher | null): void {
    this.#watcher = watcher;
    if (watcher !== null && this.#input.ended) {
      process.nextTick(tellGone, watcher);
    }
  }

  upgrade(r: Request, owner: TunnelOwner): ClientTunnel {
    this.flush(r);
    this.#state = State.TUNNEL;
    this.#tunnel = owner;
    this.#deadline.clear();
    this.#watcher = null;
    this.#socket.expectMuch(true);
    const pending = this.#input.takeRest();
    this.#resume();
    return new ConnectionTunnel(r, this.#socket, pending);
  }

  // ---------------------------------------------------------------- the end of the connection

  flushed(): void {
    const before = enter(this.#request);
    if (this.#state === State.TUNNEL) {
      this.#tunnel!.clientFlushed();
    } else {
      this.#output.drained();
    }
    leave(before);
  }

  clientEnded(): void {
    this.#input.ended = true;
    switch (this.#state) {
      case State.WAITING:
        // A pipelined request that is about to be taken up is answered all the same.
        if (!this.#input.unread) {
          this.noteLeft('');
          this.#close();
        }
        break;
      case State.LINGERING:
      case State.DISCARDING:
        this.#close();
        break;
      case State.HEAD:
        this.#headBroke('client prematurely closed connection');
        break;
      case State.REQUEST:
        this.#clientLeft();
        break;
      case State.TUNNEL:
        this.#tunnel!.clientEnded();
        break;
      default:
        break;
    }
  }

  /** Every byte was used, and no more will come: ends what waits for more. */
  inputEnded(): void {
    if (this.#input.unread || this.#input.running) {
      return;
    }
    if (this.#state === State.WAITING || this.#state === State.HEAD) {
      this.clientEnded();
    } else if (this.#state === State.REQUEST && this.#body?.waiting) {
      this.#clientLeft();
    }
  }

  #clientLeft(): void {
    const r = this.#request as Request;
    if (this.#body?.unfinished) {
      r.log(INFO, 'client prematurely closed connection');
      this.closed = true;
      this.#body.fail(400);
    } else if (this.#watcher !== null) {
      const watcher = this.#watcher;
      this.#watcher = null;
      watcher.clientGone();
    } else if (!r.headerSent) {
      r.log(INFO, 'client prematurely closed connection');
      r.clientLeft(CLIENT_CLOSED_REQUEST);
    }
  }

  readFailed(errno: number): void {
    if (this.#state === State.WAITING) {
      this.noteLeft(errnoText(errno));
      this.#close();
    } else if (this.#state === State.HEAD) {
      this.#headBroke(`recv() failed (${errnoText(errno)})`);
    }
  }

  #headBroke(why: string): void {
    const r = this.#request as Request;
    this.#heads.abandon();
    r.log(INFO, why);
    this.closed = true;
    r.terminate(400);
  }

  socketClosed(): void {
    if (this.#state === State.CLOSED) {
      return;
    }
    if (this.#state === State.WAITING) {
      this.noteLeft('');
    }
    this.closed = true;
    const r = this.#request;
    if (r !== null && !r.finished && (this.#state === State.REQUEST || this.#state === State.HEAD)) {
      if (this.#state === State.REQUEST && this.#watcher !== null) {
        const watcher = this.#watcher;
        this.#watcher = null;
        watcher.clientGone();
      }
      if (!r.finished) {
        r.clientLeft(r.headerSent ? -1 : CLIENT_CLOSED_REQUEST);
      }
      if (!r.finished && r.postAction) {
        // Its end closes the connection.
        return;
      }
    }
    const tunnel = this.#state === State.TUNNEL ? this.#tunnel : null;
    this.#close();
    tunnel?.clientClosed();
  }

  expired(): void {
    const r = this.#request;
    switch (this.#state) {
      case State.HEAD:
        this.#heads.abandon();
        r!.log(INFO, 'client timed out (110: Connection timed out)');
        r!.terminate(408);
        break;
      case State.REQUEST:
        if (this.#body?.fail(408)) {
          break;
        }
        r!.log(INFO, 'client timed out (110: Connection timed out)');
        r!.terminate(408);
        break;
      case State.WAITING:
        this.#closeUnread();
        break;
      default:
        this.#close();
        break;
    }
  }

  /**
   * Closes an idle connection, unless its next request is in the socket already. Whoever asks may stand between the loop's look at the
   * sockets and what it saw there, as a message of the master does; so the loop looks at all of them once more before the close.
   */
  #closeUnread(): void {
    setImmediate(afterNextLook, this, this.requests);
  }

  /** Closes the connection if nothing came since it had served so many requests. */
  closeAfter(requests: number): void {
    if (this.#state !== State.WAITING || this.requests !== requests) {
      return;
    }
    if (requests === 0) {
      this.note(INFO, 'client timed out (110: Connection timed out)');
    }
    this.#close();
  }

  /**
   * The worker is about to leave: an idle connection is closed once it has been idle for `keepalive_min_timeout`, so
   * that a request already on its way is still answered. A new connection is not idle: its first request may already be in
   * the socket. nginx: ngx_close_idle_connections.
   */
  drain(now: number): void {
    if (this.#state === State.LINGERING || this.#draining) {
      return;
    }
    this.#draining = true;
    if (this.#state !== State.WAITING || this.requests === 0) {
      return;
    }
    const left = this.#idleSince + this.#keepaliveMin - now;
    if (this.#keepaliveMin === 0) {
      this.#close();
    } else if (left <= 0) {
      this.#closeUnread();
    } else {
      this.#deadline.clear();
      this.#deadline.set(now, left);
    }
  }

  /** Closes a connection that waits for a request, or for its client to leave, for a new one. */
  closeIdle(): void {
    this.#close();
  }

  /** Ends the connection whatever it is doing: the worker must go. */
  kill(): void {
    const r = this.#request;
    if (r !== null && !r.finished) {
      r.terminate(r.headerSent ? -1 : CLIENT_CLOSED_REQUEST);
    }
    this.#close();
  }

  #close(): void {
    if (this.#state === State.CLOSED) {
      return;
    }
    const counters = this.#host.counters;
    if (this.#state === State.WAITING) {
      counters.waiting--;
    } else if (this.#state === State.HEAD) {
      counters.reading--;
    } else {
      counters.writing--;
    }
    this.#state = State.CLOSED;
    this.closed = true;
    this.#host.idle.remove(this);
    this.#deadline.close();
    this.#output.abandon();
    this.#input.drop();
    if (this.#request !== null) {
      this.#host.countStatus(this.#request);
      this.#host.env.logFiles.flushTick();
    }
    this.#request = null;
    this.#host.uncount(this);
    this.#socket.closeSoon();
    this.#host.connectionClosed(this);
  }
}

function afterNextLook(connection: Http1Connection, requests: number): void {
  setImmediate(closeIdle, connection, requests);
}

function closeIdle(connection: Http1Connection, requests: number): void {
  connection.closeAfter(requests);
}

function tellGone(watcher: ClientWatcher): void {
  watcher.clientGone();
}

function inputEnded(connection: Http1Connection): void {
  connection.inputEnded();
}

function wakeLater(connection: Http1Connection): void {
  connection.wake();
}
