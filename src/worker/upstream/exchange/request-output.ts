import { DEBUG } from '../../../shared/log/level.js';
import type { Channel } from '../connection/channel.js';
import { makeBodySender, type RequestSender } from './body-sender.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Sends a request to the backend of one attempt. nginx: ngx_http_upstream_send_request. */
export class RequestOutput {
  readonly #u: UpstreamRequest;
  #sender: RequestSender | null = null;
  /** All of the request has left. */
  complete = false;

  constructor(u: UpstreamRequest) {
    this.#u = u;
  }

  start(c: Channel, now: number): void {
    const u = this.#u;
    const { settings } = u.conf;
    u.action = 'sending request to upstream';
    if (u.r.debugging) {
      u.log(DEBUG, 'http upstream send request');
    }
    const sender = makeBodySender(u, this, c);
    if (sender !== null) {
      this.#sender = sender;
      c.deadline.set(now, settings.sendTimeout);
      sender.start();
      return;
    }
    const flowing = c.writeText(u.exchange.requestText);
    if (u.exchange.http2User?.connects !== true) {
      c.finishRequest();
    }
    if (c.flushed) {
      this.complete = true;
      c.deadline.set(now, settings.readTimeout);
      return;
    }
    c.deadline.set(now, settings.sendTimeout);
    if (flowing) {
      c.awaitFlush();
    }
  }

  /** The sender has given everything to the connection, and it has left. */
  finish(): void {
    const u = this.#u;
    if (this.complete || u.done) {
      return;
    }
    this.complete = true;
    if (!u.headerSent) {
      u.peer.connection?.deadline.set(performance.now(), u.conf.settings.readTimeout);
    }
  }

  /** The backend is slow to take the request. */
  awaitBackend(): void {
    const u = this.#u;
    if (!u.headerSent) {
      u.peer.connection?.deadline.set(performance.now(), u.conf.settings.sendTimeout);
    }
  }

  /** The backend has taken all there is so far; it is not to blame for the wait. */
  awaitBody(): void {
    const u = this.#u;
    if (!u.headerSent) {
      u.peer.connection?.deadline.clear();
    }
  }

  /** The connection has room again. */
  drained(c: Channel): void {
    if (this.complete) {
      return;
    }
    if (this.#sender !== null) {
      this.#sender.drained();
    } else if (c.flushed) {
      this.finish();
    }
  }

  /** Nothing more is sent. */
  stop(): void {
    this.#sender?.stop();
  }
}
