import { ERROR, INFO } from '../../../shared/log/level.js';
import type { ClientTunnel, TunnelOwner } from '../../http/request/client-exchange.js';
import { clientSlot } from '../../http/request/client-settings.js';
import type { Request } from '../../http/request/request.js';
import { now } from '../../task/at-work.js';
import { OK } from '../../task/codes.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import type { Channel, ChannelOwner } from '../connection/channel.js';
import { transferFailure } from '../connection/wire-errors.js';
import type { Passing, UpstreamRequest } from './upstream-request.js';

/** What a backend has to end its side of a stream after a client is gone that cannot read the end, ms. */
const LINGERING = 5000;

/** Passes bytes both ways once a backend has switched protocols. nginx: ngx_http_upstream_process_upgraded. */
export class Tunnel implements ChannelOwner, TunnelOwner, Passing, Expiring {
  readonly pipe = null;
  readonly #u: UpstreamRequest;
  readonly #upstream: Channel;
  /** Watches a client that does not take what is sent. */
  readonly #deadline = new Deadline(this);
  #client!: ClientTunnel;
  #clientEnded = false;
  #upstreamEnded = false;
  #clientBlocked = false;
  #upstreamBlocked = false;

  constructor(u: UpstreamRequest, upstream: Channel) {
    this.#u = u;
    this.#upstream = upstream;
  }

  get r(): Request {
    return this.#u.r;
  }

  /** Begins; `first` is what the backend sent behind its response head. */
  start(first: Buffer): void {
    const { r } = this.#u;
    this.#client = r.clientExchange.upgrade(r, this);
    const { pending } = this.#client;
    this.#upstream.resume();
    if (first.length > 0) {
      this.#fromUpstream(first, first.length);
    }
    if (pending !== null && pending.length > 0) {
      this.clientSent(pending, 0, pending.length);
    }
    this.#touch();
  }

  /** The backend's side is a stream of a connection that others use. */
  get #onStream(): boolean {
    return this.#upstream !== this.#upstream.carrier;
  }

  /** Something moved: both directions' times start anew. */
  #touch(): void {
    const settings = this.#u.conf.settings;
    if (this.#upstreamEnded || (this.#clientEnded && this.#onStream && !this.#client.halfCloses)) {
      return;
    }
    this.#upstream.deadline.set(now(), this.#upstreamBlocked ? settings.sendTimeout : settings.readTimeout);
  }

  connected(): void {}

  ready(): void {}

  received(_c: Channel, bytes: Buffer, end: number): void {
    if (end === 0) {
      this.#streamOver();
      return;
    }
    this.#u.peer.attempt!.bytesReceived += end;
    this.#fromUpstream(bytes, end);
  }

  /** The backend has ended its side of a stream, or broke it off. */
  #streamOver(): void {
    const problem = this.#u.exchange.problem ?? '';
    if (problem !== '') {
      this.#broken(problem);
      return;
    }
    this.#upstream.end();
    this.#over();
  }

  #broken(problem: string): void {
    this.#u.log(ERROR, problem);
    this.#client.failed();
    this.#u.finalize(OK);
  }

  #fromUpstream(bytes: Buffer, end: number): void {
    const { r } = this.#u;
    if (!this.#client.writeLent(bytes, 0, end)) {
      this.#clientBlocked = true;
      this.#upstream.pause();
      this.#deadline.set(performance.now(), r.location.conf(clientSlot).sendTimeout);
    }
    this.#touch();
  }

  clientSent(bytes: Buffer, start: number, end: number): void {
    if (this.#u.done) {
      return;
    }
    if (!this.#upstream.writeLent(bytes, start, end)) {
      this.#upstreamBlocked = true;
      this.#client.pause();
    }
    this.#touch();
  }

  clientFlushed(): void {
    if (this.#u.done) {
      return;
    }
    if (this.#upstreamEnded) {
      this.#u.finalize(OK);
      return;
    }
    if (!this.#clientBlocked) {
      return;
    }
    this.#clientBlocked = false;
    this.#deadline.clear();
    this.#upstream.resume();
    this.#touch();
  }

  drained(): void {
    if (this.#clientEnded && !this.#onStream && !this.#client.halfCloses && this.#upstream.flushed) {
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

  /** What the client sent still goes to the backend. */
  clientEnded(): void {
    if (this.#u.done || this.#clientEnded) {
      return;
    }
    this.#clientEnded = true;
    if (this.#onStream) {
      this.#upstream.end();
      if (!this.#client.halfCloses) {
        this.#upstream.deadline.set(performance.now(), Math.min(this.#u.conf.settings.readTimeout, LINGERING));
      }
      return;
    }
    if (this.#client.halfCloses) {
      this.#upstream.end();
      return;
    }
    if (this.#upstream.flushed) {
      this.#u.finalize(OK);
    } else if (!this.#upstreamBlocked) {
      this.#upstream.awaitFlush();
    }
  }

  clientClosed(): void {
    this.#deadline.close();
    if (!this.#u.done) {
      this.#u.finalize(OK);
    }
  }

  /** The backend has closed the connection; that of a stream, without a word of the stream. */
  ended(): void {
    if (this.#onStream) {
      this.#broken('upstream prematurely closed connection');
    } else {
      this.#over();
    }
  }

  /** The backend sends no more: what it sent still goes to the client. */
  #over(): void {
    if (this.#client.flushed) {
      this.#u.finalize(OK);
      return;
    }
    this.#upstreamEnded = true;
    this.#upstream.deadline.clear();
  }

  failed(_c: Channel, error: Error): void {
    const { level, message } = transferFailure(error);
    this.#u.log(level, message);
    this.#client.failed();
    this.#u.finalize(OK);
  }

  timedOut(): void {
    if (this.#clientEnded && this.#onStream && !this.#client.halfCloses) {
      this.#u.finalize(OK);
      return;
    }
    this.#client.failed();
    this.#u.log(INFO, 'upstream timed out (110: Connection timed out)');
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
