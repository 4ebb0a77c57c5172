// Longer than most: the states of one client connection and what leads from one to the next, which only make sense together.

import { DEBUG, INFO } from '../../../shared/log/level.js';
import type { Socket, SocketOwner } from '../../../shared/net/socket.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { DebugClients } from '../../connections/debug-clients.js';
import type { HeldConnection } from '../../connections/held-list.js';
import type { Idle } from '../../connections/idle-queue.js';
import { enter, leave, now } from '../../task/at-work.js';
import { asStatus, FAILED, type Result } from '../../task/codes.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import { checkClientCertificate } from '../../tls/request-check.js';
import { KnownClient } from '../connection/known-client.js';
import { Lingering, mustLinger } from '../connection/lingering.js';
import type { Opened } from '../connection/opened.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import type { Chunk } from '../request/body-stage.js';
import type { BodySink, ClientConnection, ClientTunnel, TunnelOwner } from '../request/client-exchange.js';
import { clientGone, clientLost } from '../request/client-gone.js';
import { clientSlot, headSlot } from '../request/client-settings.js';
import { CLIENT_CLOSED_REQUEST } from '../request/codes.js';
import type { Request } from '../request/request.js';
import { refuseRequest, startRequest } from '../request/start-request.js';
import { HEAD_DONE, HEAD_INCOMPLETE } from '../syntax/head-parser.js';
import { BODY_READ, BODY_SINK_GONE, BodyReader } from './body-reader.js';
import type { ClientInput } from './client-input.js';
import { ConnectionTunnel } from './client-tunnel.js';
import type { HeadClient } from './head-reader.js';
import type { Http1Host, RequestIo } from './request-io.js';

/** Where a connection stands. */
const State = { WAITING: 0, HEAD: 1, REQUEST: 2, DISCARDING: 3, LINGERING: 4, TUNNEL: 5, CLOSED: 6 } as const;

/**
 * One HTTP/1 client connection: reads heads, runs one request at a time, frames bodies both ways, keeps the connection
 * or closes it gently. nginx: ngx_http_request.c.
 */
export class Http1Connection extends KnownClient implements HeldConnection, HeadClient, SocketOwner, Expiring, Idle {
  idleBefore: Idle | null = null;
  idleAfter: Idle | null = null;
  heldAt = -1;
  #action: string | undefined = 'waiting for request';

  readonly #host: Http1Host;
  readonly #socket: Socket;
  readonly #deadline: Deadline;
  readonly serverName: string | undefined;
  readonly plainOnTls: boolean;
  /** Unless the connection waits for a request of which nothing has come yet. */
  #io: RequestIo | null = null;
  #state: number = State.WAITING;
  #request: Request | null = null;
  #draining = false;
  #idleSince = 0;

  constructor(
    host: Http1Host,
    socket: Socket,
    address: AddressRuntime,
    id: number,
    debugClients: DebugClients | undefined,
    opened: Opened | undefined,
  ) {
    super(socket, address, id, debugClients, opened);
    this.#host = host;
    this.#socket = socket;
    this.#idleSince = this.acceptedAt;
    this.serverName = opened?.tls?.serverName;
    this.plainOnTls = opened?.plainOnTls ?? false;
    this.#deadline = opened?.deadline ?? new Deadline(this);
    this.#deadline.passTo(this);
    host.counters.waiting++;
    host.counters.changed();
  }

  /** Begins to read. */
  start(): void {
    this.#deadline.set(this.acceptedAt, this.server.conf(headSlot).clientHeaderTimeout);
    this.#host.idle.add(this);
    this.#socket.start(this);
    this.noteAccept();
  }

  get descriptor(): number {
    return this.#socket.descriptor;
  }

  get action(): string | undefined {
    return this.#action ?? this.#io?.heads.action;
  }

  set action(action: string | undefined) {
    this.#action = action;
  }

  get connection(): ClientConnection {
    return this;
  }

  // ---------------------------------------------------------------- reading

  socketReceived(bytes: Buffer, length: number, shared: boolean): void {
    if (this.#state === State.LINGERING) {
      this.#linger();
      return;
    }
    if (this.#state === State.TUNNEL) {
      const before = enter(this.#request);
      this.#io!.tunnel!.clientSent(bytes, 0, length);
      leave(before);
      return;
    }
    if (this.#state === State.CLOSED) {
      return;
    }
    this.#io ??= this.#host.requestIos.take(this.#socket, this.#deadline);
    const { input } = this.#io;
    input.add(bytes, length, shared);
    this.#run(this.#io);
  }

  /** Uses the bytes at hand for as long as something wants them; keeps the rest. */
  #run(io: RequestIo): void {
    const { input } = io;
    input.run();
    while (input.at < input.end && this.#step(io)) {}
    input.rest(this.#state !== State.CLOSED && this.#state !== State.LINGERING);
    if (io.output.pendingHead) {
      io.output.flushSoon();
    }
    if (input.enough && this.#state !== State.HEAD) {
      input.pause(this.#socket);
    }
    if (input.ended) {
      this.inputEnded();
    } else if (this.#state === State.WAITING) {
      this.#giveBack(io);
    }
  }

  /** What reads and writes requests is not needed until the next one comes, unless that has begun to. */
  #giveBack(io: RequestIo): void {
    if (this.#io === io && !io.input.inUse) {
      this.#io = null;
      this.#host.requestIos.give(io);
    }
  }

  /** One step with the bytes at hand. Returns false when nothing wants them now. */
  #step(io: RequestIo): boolean {
    switch (this.#state) {
      case State.WAITING:
        this.#beginHead(io);
        return true;
      case State.HEAD:
        return this.#readHead(io);
      case State.REQUEST:
        return io.body?.wanted === true && this.#readBodyBytes(io, io.body);
      case State.DISCARDING:
        return this.#readBodyBytes(io, io.body as BodyReader);
      default:
        return false;
    }
  }

  #beginHead(io: RequestIo): void {
    this.#state = State.HEAD;
    this.#action = undefined;
    this.#host.idle.remove(this);
    const counters = this.#host.counters;
    counters.waiting--;
    counters.reading++;
    counters.requests++;
    counters.changed();
    this.requests++;
    const r = io.heads.begin(this, io.input.now);
    r.pipelined = io.pipelined;
    this.#request = r;
    this.#deadline.set(r.startTime, r.server.conf(headSlot).clientHeaderTimeout);
  }

  #readHead(io: RequestIo): boolean {
    const r = this.#request as Request;
    const code = io.heads.read(io.input);
    if (code === HEAD_INCOMPLETE) {
      return false;
    }
    this.#deadline.clear();
    this.#state = State.REQUEST;
    const counters = this.#host.counters;
    counters.reading--;
    counters.writing++;
    counters.changed();
    if (r.chunkedIn || r.contentLength > 0) {
      io.body = new BodyReader(r);
      this.#socket.expectMuch(true);
      r.lingeringClose = true;
    }
    if (code !== HEAD_DONE) {
      r.keepalive = false;
      refuseRequest(r, asStatus(code));
      return true;
    }
    const refusal = this.ownTls ? checkClientCertificate(r) : 0;
    if (refusal === 0) {
      startRequest(r);
    } else {
      refuseRequest(r, asStatus(refusal));
    }
    return true;
  }

  #readBodyBytes(io: RequestIo, body: BodyReader): boolean {
    const before = enter(body.request);
    const goOn = this.#bodyBytes(io, body);
    leave(before);
    return goOn;
  }

  #bodyBytes(io: RequestIo, body: BodyReader): boolean {
    const status = body.read(io.input);
    if (status === BODY_SINK_GONE) {
      return true;
    }
    if (status !== BODY_READ) {
      this.#bodyFailed(body, status);
      return false;
    }
    if (body.done) {
      this.#bodyEnded(io, body);
    } else if (this.#state === State.DISCARDING) {
      this.#linger();
    } else if (!body.paused) {
      this.#awaitBody(body);
    }
    return this.#state !== State.CLOSED;
  }

  #bodyEnded(io: RequestIo, body: BodyReader): void {
    if (this.#state === State.DISCARDING) {
      this.#afterResponse(io, this.#request as Request);
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
    this.#deadline.set(performance.now(), body.request.location.conf(clientSlot).clientBodyTimeout);
  }

  bodyDone(_r: Request): boolean {
    return this.#io === null || this.#io.body === null || this.#io.body.done;
  }

  bodyAhead(_r: Request): number {
    return this.#io === null ? 0 : this.#io.input.end - this.#io.input.at;
  }

  readBody(_r: Request, sink: BodySink): void {
    const io = this.#io;
    if (io === null || io.body === null || io.body.done) {
      sink.end();
      return;
    }
    const { body } = io;
    body.start(sink);
    this.#awaitBody(body);
    this.#wake(io);
    if (io.input.ended) {
      process.nextTick(inputEnded, this);
    }
  }

  leaveBody(r: Request): void {
    const body = this.#io?.body;
    if (!body) {
      return;
    }
    // Nobody waits for the rest of it.
    if (body.waiting && !body.done && !r.headerSent) {
      this.#deadline.clear();
    }
    body.forgetSink();
  }

  discardBody(_r: Request): Result {
    const io = this.#io;
    if (io === null || io.body === null) {
      return 0;
    }
    const status = io.body.discard(io.input);
    this.#readOn(io.input);
    return status;
  }

  resumeBody(_r: Request): void {
    const io = this.#io;
    if (io === null || !io.body?.resume()) {
      return;
    }
    if (!io.body.done) {
      this.#awaitBody(io.body);
    }
    this.#wake(io);
  }

  /** Goes on with bytes that were kept, unless the loop is running anyway, and with reading. */
  #wake(io: RequestIo): void {
    const { input } = io;
    if (input.running) {
      return;
    }
    if (input.unread) {
      this.#run(io);
    }
    this.#readOn(input);
  }

  /** Goes on with reading if so much was used that there is room for more. */
  #readOn(input: ClientInput): void {
    if (!input.running && !input.enough) {
      this.#resume(input);
    }
  }

  #resume(input: ClientInput): void {
    if (!this.closed) {
      input.resume(this.#socket);
    }
  }

  // ---------------------------------------------------------------- sending

  sendContinue(r: Request): void {
    this.#io?.output.sendContinue(r);
  }

  sendInformational(r: Request, status: number, fields: readonly string[]): void {
    if (!this.closed) {
      this.#io?.output.sendInformational(r, status, fields);
    }
  }

  sendHead(r: Request): void {
    if (this.#host.draining) {
      r.keepalive = false;
    }
    if (this.closed) {
      return;
    }
    const { input, output } = this.#io as RequestIo;
    output.sendHead(r);
    // While the loop runs, it looks itself whether a body came to take the head along.
    if (!input.running && output.pendingHead) {
      output.flushSoon();
    }
  }

  flush(_r: Request): void {
    if (!this.closed) {
      this.#io?.output.flush();
    }
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    if (this.closed) {
      r.terminate(FAILED);
    } else {
      this.#io?.output.send(r, chunk, last);
    }
  }

  sendLent(r: Request, bytes: Buffer, start: number, end: number, last: boolean): void {
    if (this.closed) {
      r.terminate(FAILED);
    } else {
      this.#io?.output.sendLent(r, bytes, start, end, last);
    }
  }

  offerLimit(r: Request): number {
    return this.#io === null ? 0 : this.#io.output.offerLimit(r);
  }

  offer(r: Request, bytes: Chunk): number {
    return this.closed || this.#io === null ? 0 : this.#io.output.offer(r, bytes);
  }

  offerFile(r: Request, fd: number, at: number, size: number): number {
    return this.closed || this.#io === null ? 0 : this.#io.output.offerFile(r, fd, at, size);
  }

  // ---------------------------------------------------------------- the end of a request

  finish(r: Request): void {
    if (r !== this.#request) {
      return;
    }
    const io = this.#io as RequestIo;
    io.output.reset();
    this.#deadline.clear();
    this.#action = undefined;
    const { body } = io;
    body?.forgetSink();
    if (body !== null && !body.done) {
      // What is left of the body must not be taken for a request.
      if (!r.discardingBody || io.input.ended) {
        r.keepalive = false;
        r.lingeringClose = true;
      }
      if (r.keepalive) {
        this.#state = State.DISCARDING;
        io.lingering = new Lingering(this.#deadline, r.location.conf(clientSlot));
        this.#linger();
        this.#wake(io);
        return;
      }
    }
    this.#afterResponse(io, r);
  }

  /** Keeps the connection for the next request or closes it. nginx: ngx_http_finalize_connection. */
  #afterResponse(io: RequestIo, r: Request): void {
    const settings = r.location.conf(clientSlot);
    const counters = this.#host.counters;
    const { input } = io;
    if (io.body !== null) {
      this.#socket.expectMuch(false);
    }
    io.body = null;
    io.lingering = null;
    if (this.closed || (input.ended && !input.unread)) {
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
      io.pipelined = input.unread;
      if (!io.pipelined) {
        this.#host.idle.add(this);
      }
      this.#keepaliveMin = settings.keepaliveMinTimeout;
      this.#deadline.set(time, timeout);
      this.#host.countStatus(r);
      if (io.pipelined && !input.running) {
        setImmediate(wakeLater, this);
      }
      this.#readOn(input);
      this.#giveBack(io);
      return;
    }
    // A client that sent its request early still ends its handshake: what nobody reads of that would break the response off.
    if (mustLinger(r, input.unread || this.tls?.early === true)) {
      this.#lingerBeforeClose(io, r);
    } else {
      this.#close();
    }
  }

  #keepaliveMin = 0;

  /** For a pipelined request after the response before it. */
  wake(): void {
    if (this.#state === State.WAITING && this.#io !== null) {
      this.#wake(this.#io);
    }
  }

  #lingerBeforeClose(io: RequestIo, r: Request): void {
    this.#state = State.LINGERING;
    io.input.drop();
    const lingering = new Lingering(this.#deadline, r.location.conf(clientSlot));
    io.lingering = lingering;
    lingering.halfClose(this.#socket, this.#host.env.logFiles);
    if (io.input.ended) {
      this.#close();
      return;
    }
    this.#host.idle.add(this);
    this.#linger();
    this.#resume(io.input);
  }

  #linger(): void {
    if (!this.#io!.lingering!.wait()) {
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
    else if (this.#socket.blocked) {
      this.#socket.close();
    }
    this.#close();
  }

  unsent(r: Request): number {
    return r === this.#request ? this.#socket.unsent : 0;
  }

  get clientGone(): boolean {
    return this.closed || this.#io?.gone === true;
  }

  upgrade(r: Request, owner: TunnelOwner): ClientTunnel {
    this.flush(r);
    this.#state = State.TUNNEL;
    const io = this.#io as RequestIo;
    io.tunnel = owner;
    this.#deadline.clear();
    r.watcher = null;
    this.#socket.expectMuch(true);
    const pending = io.input.takeRest();
    this.#resume(io.input);
    return new ConnectionTunnel(r, this.#socket, pending);
  }

  // ---------------------------------------------------------------- the end of the connection

  socketDrained(): void {
    const before = enter(this.#request);
    if (this.#state === State.TUNNEL) {
      this.#io!.tunnel!.clientFlushed();
    } else {
      this.#io?.output.drained();
    }
    leave(before);
  }

  socketEnded(stays: boolean): void {
    const io = this.#io;
    if (io !== null) {
      io.input.ended = true;
      io.gone = !stays;
    }
    switch (this.#state) {
      case State.WAITING:
        // A pipelined request that is about to be taken up is answered all the same.
        if (io === null || !io.input.unread) {
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
        this.#clientLeft(io!, '');
        break;
      case State.TUNNEL:
        io!.tunnel!.clientEnded();
        break;
      default:
        break;
    }
  }

  /** Every byte was used, and no more will come: ends what waits for more. */
  inputEnded(): void {
    const io = this.#io;
    if (io === null || io.input.unread || io.input.running) {
      return;
    }
    if (this.#state === State.WAITING || this.#state === State.HEAD) {
      this.socketEnded(!io.gone);
    } else if (this.#state === State.REQUEST && io.body?.waiting) {
      this.#clientLeft(io, '');
    }
  }

  /** The client sends no more, or its connection is no more, as `reason` says. */
  #clientLeft(io: RequestIo, reason: string, sending = false): void {
    const r = this.#request as Request;
    if (io.body?.unfinished) {
      r.log(INFO, reason === '' ? 'client prematurely closed connection' : `recv() failed${reason}`);
      this.closed = true;
      io.body.fail(400);
    } else if (this.closed) {
      clientLost(r, reason, sending);
    } else if (io.gone) {
      clientGone(r, reason);
    }
  }

  socketFailed(error: Error): void {
    if (this.#io !== null) {
      this.#io.failure = ` (${errnoText(error)})`;
    }
    if (this.#state === State.WAITING) {
      this.noteLeft(errnoText(error));
      this.#close();
    } else if (this.#state === State.HEAD) {
      this.#headBroke(`recv() failed (${errnoText(error)})`);
    }
  }

  #headBroke(why: string): void {
    const r = this.#request as Request;
    this.#io!.heads.abandon();
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
    if (r !== null && !r.finished && this.#state === State.REQUEST) {
      this.#lost(this.#io as RequestIo);
      if (!r.finished) {
        // Its end closes the connection.
        return;
      }
    }
    if (r !== null && !r.finished && this.#state === State.HEAD) {
      r.terminate(CLIENT_CLOSED_REQUEST);
    }
    const tunnel = this.#state === State.TUNNEL ? this.#io!.tunnel : null;
    this.#close();
    tunnel?.clientClosed();
  }

  /** The connection of a request is no more: what it waits for from its client will not come. */
  #lost(io: RequestIo): void {
    const sending = io.output.busy;
    io.gone = true;
    io.input.ended = true;
    this.#deadline.clear();
    io.output.abandon();
    io.input.drop();
    this.#clientLeft(io, io.failure, sending);
  }

  expired(): void {
    const r = this.#request;
    switch (this.#state) {
      case State.HEAD:
        this.#io!.heads.abandon();
        r!.log(INFO, 'client timed out (110: Connection timed out)');
        r!.terminate(408);
        break;
      case State.REQUEST:
        if (this.#io!.body?.fail(408)) {
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
      r.kill(r.headerSent ? FAILED : CLIENT_CLOSED_REQUEST);
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
    this.#io?.output.abandon();
    this.#io?.input.drop();
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

function inputEnded(connection: Http1Connection): void {
  connection.inputEnded();
}

function wakeLater(connection: Http1Connection): void {
  connection.wake();
}
