import { ALERT, CRIT, ERROR, INFO } from '../../../shared/log/level.js';
import type { DatagramSocket, DatagramTaker } from '../../../shared/net/datagram-socket.js';
import { systemError } from '../../../shared/net/system-error.js';
import { errnoText } from '../../../shared/system/errno.js';
import { setTimer } from '../../../shared/time/timer.js';
import { addressText } from '../../address/backend-url.js';
import { network } from '../../net/engine/network.js';
import type { DatagramClient } from '../../stream/session/datagram-client.js';
import type { SessionReader, StreamSession } from '../../stream/session/session.js';
import type { SessionFilter, SessionOutput } from '../../stream/session/session-filter.js';
import { BAD_GATEWAY, INTERNAL_SERVER_ERROR, STATUS_OK } from '../../stream/session/status.js';
import { enter, leave } from '../../task/at-work.js';
import type { Peer } from '../../upstream/balancing/peer.js';
import { localAddress } from '../../upstream/connection/local-address.js';
import { BackendChoice } from './backend-choice.js';
import { clientHeader } from './client-header.js';

const EMPTY = Buffer.alloc(0);
const EAFNOSUPPORT = -97;
const EADDRINUSE = -98;
const EADDRNOTAVAIL = -99;

/**
 * A session of datagrams: passes each one on as it is, to the backend and back, until as many have come as the configuration says, or none
 * comes any more. nginx: ngx_stream_proxy_process for SOCK_DGRAM.
 */
export class DatagramProxy extends BackendChoice implements DatagramTaker, SessionOutput {
  readonly filterFailure = STATUS_OK;
  #socket: DatagramSocket | null = null;
  /** Datagrams of the client, and of the backend. */
  #requests = 1;
  #responses = 0;
  #sent = 0;
  #received = 0;
  #uploadRate = 0;
  #downloadRate = 0;
  /** A rate lets nothing through at the moment: what the client sends is lost, and what the backend sends waits. */
  #uploadPause: NodeJS.Timeout | undefined = undefined;
  #downloadPause: NodeJS.Timeout | undefined = undefined;
  #filter: SessionFilter | undefined = undefined;
  protected override peerFailed = false;

  protected get bytesFromBackend(): number {
    return this.#received;
  }

  protected get bytesToBackend(): number {
    return this.#sent;
  }

  protected ask(peer: Peer): void {
    const { r } = this;
    const { settings } = this.server;
    const local = localAddress(this, settings);
    // Node has no datagrams of Unix-domain sockets.
    const unix = peer.port === 0;
    const socket = unix ? systemError(EAFNOSUPPORT, 'connect') : network.connectDatagrams(peer, local);
    if (socket instanceof Error) {
      this.#cannotConnect(socket);
      return;
    }
    this.#socket = socket;
    r.wait(client);
    this.#begin(socket);
  }

  /** nginx goes to another peer only where the peer is what is wrong. */
  #cannotConnect(error: NodeJS.ErrnoException): void {
    const { errno, syscall } = error;
    const text = `(${errnoText(error)})`;
    if (syscall?.startsWith('setsockopt(')) {
      this.log(ALERT, `${syscall} failed ${text}`);
    } else if (syscall === 'bind' || errno === EADDRINUSE || errno === EADDRNOTAVAIL) {
      this.log(CRIT, `bind(${this.boundTo}) failed ${text}`);
    } else {
      this.log(ALERT, `socket() failed ${text}`);
    }
    this.r.finalize(INTERNAL_SERVER_ERROR);
  }

  // nginx: ngx_stream_proxy_init_upstream.
  #begin(socket: DatagramSocket): void {
    const { r } = this;
    const { settings } = this.server;
    if (r.server.log.level >= INFO) {
      const { address, port } = socket.local();
      r.logBare(INFO, `udp proxy ${addressText(address ?? '', port ?? 0)} connected to ${this.name}`);
    }
    this.peerReached(performance.now());
    this.#uploadRate = this.rate(settings.uploadRate);
    this.#downloadRate = this.rate(settings.downloadRate);
    const first = r.held ?? EMPTY;
    r.take();
    socket.receive(this);
    const { proxyProtocol } = settings;
    this.#filter = r.server.makeFilter?.(r, this);
    this.#forward(proxyProtocol === 0 ? first : Buffer.concat([clientHeader(r, proxyProtocol), first]));
    this.#after();
  }

  // ---------------------------------------------------------------- to the backend

  /** A datagram of the client came. */
  fromClient(bytes: Buffer): void {
    if (this.#socket === null || this.#uploadPause !== undefined) {
      return;
    }
    const rate = this.#uploadRate;
    if (rate > 0) {
      const limit = rate * (this.seconds() + 1) - this.r.bytesReceived;
      if (limit <= 0) {
        this.#uploadPause = setTimer(uploadGoesOn, Math.floor((-limit * 1000) / rate) + 1, this);
        this.#after();
        return;
      }
      const delay = Math.floor((bytes.length * 1000) / rate);
      if (delay > 0) {
        this.#uploadPause = setTimer(uploadGoesOn, delay, this);
      }
    }
    this.#requests++;
    this.r.bytesReceived += bytes.length;
    this.#forward(bytes);
    this.#after();
  }

  #forward(bytes: Buffer): void {
    if (this.#filter === undefined) {
      this.#toBackend(bytes);
    } else {
      this.#filter.take(bytes, false, false);
    }
  }

  pass(bytes: Buffer, fromUpstream: boolean): void {
    if (fromUpstream) {
      this.r.bytesSent += this.r.socket.offer(bytes);
    } else if (this.#socket !== null) {
      this.#toBackend(bytes);
    }
  }

  #toBackend(bytes: Buffer): void {
    const { r } = this;
    const error = this.#socket!.send(bytes);
    if (error >= 0) {
      this.#sent += bytes.length;
      return;
    }
    r.action = 'proxying and sending to upstream';
    this.peerFailed = true;
    this.log(ERROR, `send() failed (${errnoText({ errno: error })})`);
    r.finalize(STATUS_OK);
  }

  /** The client may be heard again. */
  uploadGoesOn(): void {
    this.#uploadPause = undefined;
    this.#rearm();
  }

  // ---------------------------------------------------------------- from the backend

  datagram(bytes: Buffer): void {
    const { r } = this;
    if (r.finished) {
      return;
    }
    const before = enter(r);
    this.heard();
    this.#responses++;
    this.#received += bytes.length;
    if (this.#filter === undefined) {
      r.bytesSent += r.socket.offer(bytes);
    } else if (!this.#filter.take(bytes, false, true)) {
      leave(before);
      return;
    }
    if (this.#downloadRate > 0) {
      this.#slowDown(bytes.length);
    }
    this.#after();
    leave(before);
  }

  /** Leaves what the backend sends with the kernel for as long as the rate says. */
  #slowDown(size: number): void {
    const rate = this.#downloadRate;
    const limit = rate * (this.seconds() + 1) - this.#received;
    const delay = Math.max(Math.floor((size * 1000) / rate), limit <= 0 ? Math.floor((-limit * 1000) / rate) + 1 : 0);
    if (delay > 0) {
      this.#socket!.pause();
      this.#downloadPause = setTimer(downloadGoesOn, delay, this);
    }
  }

  /** The backend may be heard again, unless the rate has something against it still. */
  downloadGoesOn(): void {
    this.#downloadPause = undefined;
    this.#slowDown(0);
    if (this.#downloadPause === undefined) {
      this.#socket!.resume();
    }
    this.#rearm();
  }

  /** The kernel was told that nobody takes datagrams there. It counts as one that came, as in nginx. */
  receiveFailed(errno: number): void {
    const { r } = this;
    if (r.finished) {
      return;
    }
    const before = enter(r);
    r.action = 'proxying and reading from upstream';
    this.log(ERROR, `recv() failed (${errnoText({ errno })})`);
    this.peerFailed = true;
    this.heard();
    this.#responses++;
    this.#after();
    leave(before);
  }

  // ---------------------------------------------------------------- the end

  // nginx: ngx_stream_proxy_test_finalize.
  #after(): void {
    const { r } = this;
    if (r.finished) {
      return;
    }
    r.action = 'proxying connection';
    const { requests, responses } = this.server.settings;
    if (requests === 0 || this.#requests >= requests) {
      if (requests !== 0) {
        (r.socket as DatagramClient).forget();
      }
      if (responses !== -1 && this.#responses >= responses * this.#requests) {
        r.logBare(INFO, `udp done, ${this.#counted()}`);
        r.finalize(STATUS_OK);
        return;
      }
    }
    this.#rearm();
  }

  #rearm(): void {
    this.countBytes();
    const { deadline } = this.r;
    if (this.#uploadPause !== undefined || this.#downloadPause !== undefined) {
      deadline.clear();
    } else {
      deadline.set(performance.now(), this.server.settings.timeout);
    }
  }

  /** Nothing has come for as long as `proxy_timeout` says. */
  expired(): void {
    const { r } = this;
    const { responses } = this.server.settings;
    if (responses === -1 || this.#responses >= responses * this.#requests) {
      r.logBare(INFO, `udp timed out, ${this.#counted()}`);
      r.finalize(STATUS_OK);
      return;
    }
    this.log(ERROR, 'upstream timed out (110: Connection timed out)');
    this.peerFailed = true;
    r.finalize(BAD_GATEWAY);
  }

  #counted(): string {
    return `packets from/to client:${this.#requests}/${this.#responses}, ${this.transferred()}`;
  }

  transferred(): string {
    const { bytesReceived, bytesSent } = this.r;
    return `bytes from/to client:${bytesReceived}/${bytesSent}, bytes from/to upstream:${this.#received}/${this.#sent}`;
  }

  protected disconnect(): void {
    clearTimeout(this.#uploadPause);
    clearTimeout(this.#downloadPause);
    this.#uploadPause = undefined;
    this.#downloadPause = undefined;
    this.#socket?.close();
    this.#socket = null;
  }
}

const uploadGoesOn = (proxy: DatagramProxy): void => proxy.uploadGoesOn();
const downloadGoesOn = (proxy: DatagramProxy): void => proxy.downloadGoesOn();

const proxyOf = (s: StreamSession): DatagramProxy => s.upstream as DatagramProxy;

/** Tells each session's proxy of its client. */
const client: SessionReader = {
  received: (s, bytes) => proxyOf(s).fromClient(bytes),
  ended() {},
  flushed() {},
  expired: (s) => proxyOf(s).expired(),
  broken() {},
};
