import { ERROR, INFO } from '../../../shared/log/level.js';
import { addressText } from '../../address/backend-url.js';
import { EMPTY } from '../../bytes/empty.js';
import type { BackendTls } from '../../net/secure-backend-socket.js';
import type { SessionReader, StreamSession } from '../../stream/session/session.js';
import type { SessionOutput } from '../../stream/session/session-filter.js';
import { INTERNAL_SERVER_ERROR, STATUS_OK } from '../../stream/session/status.js';
import { enter, leave } from '../../task/at-work.js';
import type { Peer } from '../../upstream/balancing/peer.js';
import type { ChannelOwner } from '../../upstream/connection/channel.js';
import type { UpstreamConnection } from '../../upstream/connection/connection.js';
import { connectPeer } from '../../upstream/connection/connector.js';
import { localAddress } from '../../upstream/connection/local-address.js';
import { backendHandshakeFailure, connectFailure, transferFailure } from '../../upstream/connection/wire-errors.js';
import { BackendChoice } from './backend-choice.js';
import { clientHeader } from './client-header.js';
import { Flow } from './flow.js';

/**
 * A session whose client's connection is joined to one of a backend: connects to the peer, and passes bytes both ways.
 * nginx: ngx_stream_upstream_t.
 */
export class SessionProxy extends BackendChoice implements ChannelOwner, SessionOutput {
  readonly filterFailure = STATUS_OK;
  #connection: UpstreamConnection | null = null;
  /** The backend can be written to. */
  #connected = false;
  /** To the backend, and from it. */
  readonly #up = new Flow(this);
  readonly #down = new Flow(this);
  #halfClosed = false;
  /** The length of the PROXY protocol's header that goes before a TLS handshake. */
  #preface = 0;

  get bufferSize(): number {
    return this.server.settings.bufferSize;
  }

  protected get bytesFromBackend(): number {
    return this.#down.received;
  }

  protected get bytesToBackend(): number {
    return this.#up.sent;
  }

  protected ask(peer: Peer): void {
    const { r } = this;
    const { settings, tls } = this.server;
    this.#up.sent = 0;
    this.countAnew();
    const local = localAddress(this, settings);
    const purpose = tls?.purpose(this);
    const own = purpose && tls!.options(this, peer, purpose);
    if (own === null) {
      r.finalize(INTERNAL_SERVER_ERROR);
      return;
    }
    const options = own === undefined ? undefined : this.#forSession(own);
    this.#preface = options?.preface?.length ?? 0;
    const connection = connectPeer(peer, this, local, options);
    if (options !== undefined) {
      tls!.opened(this, connection, peer, options);
    }
    this.#connection = connection;
    // nginx reads while it connects what its preread phase has only peeked at.
    if (r.prereads && r.tls === undefined) {
      r.bytesReceived = Math.min(r.held?.length ?? 0, this.bufferSize);
    }
    r.wait(client);
    r.deadline.set(this.attemptStart, settings.connectTimeout);
  }

  /** Adds what this session is to say: the protocols, and the header of the PROXY protocol. nginx: ngx_stream_proxy_ssl_alpn. */
  #forSession(options: BackendTls): BackendTls {
    const { settings } = this.server;
    const names = settings.sslAlpn?.map((value) => value.eval(this.r)).filter(({ length }) => length > 0 && length <= 255);
    return {
      ...options,
      protocols: names ?? options.protocols,
      preface: settings.proxyProtocol === 0 ? undefined : clientHeader(this.r, settings.proxyProtocol),
    };
  }

  protected disconnect(): void {
    this.#connection?.close();
    this.#connection = null;
  }

  // ---------------------------------------------------------------- the connection to the backend

  connected(c: UpstreamConnection): void {
    if (c.tls) {
      this.#up.sent = this.#preface;
      this.r.action = 'SSL handshaking to upstream';
      this.r.deadline.set(performance.now(), this.server.settings.connectTimeout);
    }
  }

  // nginx: ngx_stream_proxy_init_upstream.
  ready(c: UpstreamConnection): void {
    const { r } = this;
    const { settings, tls } = this.server;
    if (c.tls) {
      const failure = tls!.check(this, c);
      if (failure !== undefined) {
        this.log(ERROR, failure);
        this.next();
        return;
      }
    }
    if (r.server.log.level >= INFO) {
      const { address, port } = c.local();
      const local = address === undefined ? 'unix:' : addressText(address, port ?? 0);
      r.logBare(INFO, `proxy ${local} connected to ${this.name}`);
    }
    this.#connected = true;
    this.peerReached(performance.now());
    if (settings.proxyProtocol !== 0 && !c.tls) {
      const header = clientHeader(r, settings.proxyProtocol);
      // Offered first: a connection that is closed drops what waits in it.
      const taken = c.offer(header);
      this.#up.sent = header.length;
      if (taken < header.length) {
        c.write(header.subarray(taken));
      }
    }
    this.#up.rate = this.rate(settings.uploadRate);
    this.#down.rate = this.rate(settings.downloadRate);
    this.#startFilter();
    if (r.finished) {
      return;
    }
    r.socket.expectMuch(true);
    r.action = 'proxying connection';
    const { held } = r;
    if (held !== null) {
      r.take();
      if (r.prereads && r.tls === undefined && !this.#showNothing()) {
        return;
      }
      if (!this.#takeUp(held) || r.finished) {
        this.#afterUp();
        return;
      }
    }
    if (r.ended) {
      this.#up.end();
      this.#afterUp();
      return;
    }
    this.#rearm();
    r.readTo(client);
  }

  #startFilter(): void {
    const filter = this.r.server.makeFilter?.(this.r, this);
    if (filter !== undefined) {
      this.#up.filter = (bytes, last) => void filter.take(bytes, last, false);
      this.#down.filter = (bytes, last) => void filter.take(bytes, last, true);
    }
  }

  /**
   * As in nginx, which has only peeked at what its preread phase looked at, the filter first sees an empty buffer. False: the session has
   * ended with that.
   */
  #showNothing(): boolean {
    this.#up.filter?.(EMPTY, false);
    return !this.r.finished;
  }

  pass(bytes: Buffer, fromUpstream: boolean): void {
    if (fromUpstream) {
      this.#down.emit(bytes, this.r.socket);
      this.#noteSent();
    } else if (this.#connection !== null) {
      this.#up.emit(bytes, this.#connection);
    }
  }

  #noteSent(): void {
    this.r.bytesSent = this.#down.sent;
    this.r.bytesWaiting = this.#down.waiting;
  }

  // ---------------------------------------------------------------- to the backend

  /** Bytes of the client came. */
  fromClient(bytes: Buffer, length: number): void {
    if (!this.#takeUp(bytes.length === length ? bytes : bytes.subarray(0, length))) {
      this.r.stopReading();
    }
    this.#afterUp();
  }

  #takeUp(bytes: Buffer): boolean {
    this.r.action = 'proxying and sending to upstream';
    const goOn = this.#up.take(bytes, this.#connection!);
    this.r.bytesReceived = this.#up.received;
    return goOn;
  }

  /** The client sends no more. */
  clientEnded(): void {
    this.#up.end();
    this.#afterUp();
  }

  #afterUp(): void {
    if (!this.r.finished) {
      this.r.action = 'proxying connection';
      this.#after(false);
    }
  }

  /** The client's kernel took everything that a write had left over. */
  clientFlushed(): void {
    this.#down.flushed();
    this.#readOn(this.#down);
  }

  drained(): void {
    this.#up.flushed();
    this.#readOn(this.#up);
  }

  /** A flow may have room again. */
  flowGoesOn(flow: Flow): void {
    const before = enter(this.r);
    if (!this.r.finished) {
      this.#readOn(flow);
    }
    leave(before);
  }

  #readOn(flow: Flow): void {
    const up = flow === this.#up;
    const goesOn = flow.goOn(up ? this.#connection! : this.r.socket);
    if (up) {
      this.r.bytesReceived = flow.received;
    } else {
      this.#noteSent();
    }
    if (this.r.finished) {
      return;
    }
    if (goesOn) {
      if (up) {
        this.r.readTo(client);
      } else {
        this.#connection!.resume();
      }
    }
    if (!this.r.finished) {
      this.#after(!up);
    }
  }

  // ---------------------------------------------------------------- from the backend

  received(c: UpstreamConnection, bytes: Buffer, end: number): void {
    const { r } = this;
    if (!this.#connected) {
      return;
    }
    this.heard();
    r.action = 'proxying and sending to client';
    const goesOn = this.#down.take(bytes.length === end ? bytes : bytes.subarray(0, end), r.socket);
    this.#noteSent();
    if (r.finished) {
      return;
    }
    if (!goesOn) {
      c.pause();
    }
    r.action = 'proxying connection';
    this.#after(true);
  }

  ended(): void {
    if (!this.#connected) {
      this.log(ERROR, 'peer closed connection in SSL handshake');
      this.next();
      return;
    }
    this.heard();
    this.#down.end();
    if (!this.r.finished) {
      this.#after(true);
    }
  }

  failed(c: UpstreamConnection, error: Error): void {
    if (!c.connected) {
      const { level, message, fatal } = connectFailure(this, error);
      this.log(level, message);
      if (fatal) {
        this.attempt!.unbegun = true;
        this.r.finalize(INTERNAL_SERVER_ERROR);
      } else {
        this.next();
      }
      return;
    }
    if (!this.#connected) {
      const { level, message } = backendHandshakeFailure(error);
      this.log(level, message);
      this.next();
      return;
    }
    const { level, message } = transferFailure(error);
    this.log(level, message);
    if ((error as NodeJS.ErrnoException).syscall === 'write') {
      this.r.finalize(STATUS_OK);
      return;
    }
    this.ended();
  }

  // ---------------------------------------------------------------- the end

  /** Looks whether the session is over, after bytes or an end of one side. nginx: the end of ngx_stream_proxy_process. */
  #after(fromBackend: boolean): void {
    const { halfClose } = this.server.settings;
    // A socket may keep what it took at once: the kernel's room is seen when the tick's bytes leave.
    const upDone = this.#up.done && !this.#connection!.pending;
    const downDone = this.#down.done && !this.r.socket.pending;
    if (halfClose ? upDone && downDone : upDone || downDone) {
      this.r.logBare(INFO, `${fromBackend ? 'upstream' : 'client'} disconnected, ${this.transferred()}`);
      this.r.finalize(STATUS_OK);
      return;
    }
    if (halfClose && !this.#halfClosed) {
      if (upDone) {
        this.#halfClosed = true;
        this.#connection!.end();
      } else if (downDone) {
        this.#halfClosed = true;
        this.r.socket.end();
      }
    }
    this.#rearm();
  }

  #rearm(): void {
    this.countBytes();
    if (this.#up.delayed || this.#down.delayed) {
      this.r.deadline.clear();
    } else {
      this.r.deadline.set(performance.now(), this.server.settings.timeout);
    }
  }

  expired(): void {
    if (!this.#connected) {
      this.#connection?.handshakeExpired();
      this.log(ERROR, 'upstream timed out (110: Connection timed out)');
      this.next();
      return;
    }
    this.log(INFO, 'connection timed out (110: Connection timed out)');
    this.r.finalize(STATUS_OK);
  }

  timedOut(): void {}

  /** The client's connection broke: nothing comes of it any more, and nothing gets there. */
  broken(): void {
    this.r.finalize(STATUS_OK);
  }

  transferred(): string {
    const up = this.#up;
    const down = this.#down;
    return `bytes from/to client:${up.received}/${down.sent}, bytes from/to upstream:${down.received}/${up.sent}`;
  }

  override release(): void {
    this.#up.close();
    this.#down.close();
    super.release();
  }
}

const proxyOf = (s: StreamSession): SessionProxy => s.upstream as SessionProxy;

/** Tells each session's proxy of its client. */
const client: SessionReader = {
  received: (s, bytes, length) => proxyOf(s).fromClient(bytes, length),
  ended: (s) => proxyOf(s).clientEnded(),
  flushed: (s) => proxyOf(s).clientFlushed(),
  expired: (s) => proxyOf(s).expired(),
  broken: (s) => proxyOf(s).broken(),
};
