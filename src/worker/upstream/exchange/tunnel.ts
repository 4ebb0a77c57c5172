import type { Socket } from 'node:net';
import { ERROR as ERR, INFO } from '../../../shared/log/level.js';
import { OK } from '../../http/request/codes.js';
import type { Request } from '../../http/request/request.js';
import { Deadline, type Expiring } from '../../io/deadline.js';
import type { ConnectionOwner, UpstreamConnection } from '../connection/connection.js';
import type { Passing, UpstreamRequest } from './upstream-request.js';
import { transferFailure } from './wire-errors.js';

/** Passes bytes both ways once a backend has switched protocols. nginx: ngx_http_upstream_process_upgraded. */
export class Tunnel implements ConnectionOwner, Passing, Expiring {
  readonly pipe = null;
  readonly #u: UpstreamRequest;
  readonly #upstream: UpstreamConnection;
  /** Watches a client that does not take what is sent. */
  readonly #deadline = new Deadline(this);
  #client!: Socket;
  #clientEnded = false;
  #clientBlocked = false;
  #upstreamBlocked = false;

  constructor(u: UpstreamRequest, upstream: UpstreamConnection) {
    this.#u = u;
    this.#upstream = upstream;
  }

  get r(): Request {
    return this.#u.r;
  }

  /** Begins; `first` is what the backend sent behind its response head. */
  start(first: Buffer): void {
    const { r } = this.#u;
    const { socket, pending } = r.stream.upgrade(r, (bytes) => this.#fromClient(bytes));
    this.#client = socket;
    socket.on('drain', () => this.#clientDrained());
    socket.on('end', () => this.#clientGone());
    socket.on('close', () => this.#closed());
    this.#upstream.resume();
    if (first.length > 0) {
      this.#fromUpstream(first, first.length);
    }
    if (pending !== null && pending.length > 0) {
      this.#fromClient(pending);
    }
    this.#touch();
  }

  /** Something moved: both directions' times start anew. */
  #touch(): void {
    const settings = this.#u.conf.settings;
    this.#upstream.deadline.set(performance.now(), this.#upstreamBlocked ? settings.sendTimeout : settings.readTimeout);
  }

  connected(): void {}

  ready(): void {}

  received(_c: UpstreamConnection, bytes: Buffer, end: number): void {
    this.#u.peer.attempt!.bytesReceived += end;
    this.#fromUpstream(bytes, end);
  }

  #fromUpstream(bytes: Buffer, end: number): void {
    const { r } = this.#u;
    r.bytesSent += end;
    if (!this.#client.write(Buffer.from(bytes.subarray(0, end)))) {
      this.#clientBlocked = true;
      this.#upstream.pause();
      this.#deadline.set(performance.now(), r.location.settings.sendTimeout);
    }
    this.#touch();
  }

  #fromClient(bytes: Buffer): void {
    if (this.#u.done) {
      return;
    }
    this.#u.r.requestLength += bytes.length;
    if (!this.#upstream.write(bytes)) {
      this.#upstreamBlocked = true;
      this.#client.pause();
    }
    this.#touch();
  }

  #clientDrained(): void {
    if (!this.#clientBlocked || this.#u.done) {
      return;
    }
    this.#clientBlocked = false;
    this.#deadline.clear();
    this.#upstream.resume();
    this.#touch();
  }

  drained(): void {
    if (this.#clientEnded && this.#upstream.flushed) {
      this.#u.finalize(OK);
      return;
    }
    if (!this.#upstreamBlocked) {
      return;
    }
    this.#upstreamBlocked = false;
    this.#client.resume();
    this.#touch();
  }

  /** The client sends no more: what it sent still goes to the backend. */
  #clientGone(): void {
    if (this.#u.done || this.#clientEnded) {
      return;
    }
    this.#clientEnded = true;
    if (this.#upstream.flushed) {
      this.#u.finalize(OK);
    } else if (!this.#upstreamBlocked) {
      this.#upstream.awaitFlush();
    }
  }

  #closed(): void {
    this.#deadline.close();
    if (!this.#u.done) {
      this.#u.finalize(OK);
    }
  }

  ended(): void {
    this.#u.finalize(OK);
  }

  failed(_c: UpstreamConnection, error: Error): void {
    const { level, message } = transferFailure(error);
    this.#u.log(level, message);
    this.#u.finalize(OK);
  }

  timedOut(): void {
    this.#u.log(ERR, 'upstream timed out (110: Connection timed out)');
    this.#u.finalize(504);
  }

  /** The client takes nothing. */
  expired(): void {
    if (this.#u.done) {
      return;
    }
    this.#u.log(INFO, 'client timed out (110: Connection timed out)');
    this.#u.finalize(408);
  }

  /** The tunnel is over. */
  stop(): void {
    this.#deadline.close();
  }
}
