import type { Meter } from '../../../shared/zone/meters.js';
import type { ChannelOwner } from './channel.js';
import type { UpstreamConnection } from './connection.js';

/** What the `keepalive*` directives of a group say. */
export interface KeepaliveSettings {
  /** Idle connections kept by a worker. */
  readonly connections: number;
  /** Requests on one connection. */
  readonly requests: number;
  /** Milliseconds a connection may be in use for. */
  readonly time: number;
  /** Milliseconds a connection may stay idle. */
  readonly timeout: number;
  /** A connection serves only the location that opened it. */
  readonly local: boolean;
}

/** Connections to a group's peers that wait for another request. nginx: ngx_http_upstream_keepalive_module. */
export class IdlePool implements ChannelOwner {
  readonly settings: KeepaliveSettings;
  readonly r = null;
  /** The latest used is the last. */
  readonly #idle: UpstreamConnection[] = [];
  /** Counts them; null where nothing is counted. */
  meter: Meter | null = null;

  constructor(settings: KeepaliveSettings) {
    this.settings = settings;
  }

  /** Takes the connection to a peer that was used last. */
  take(name: string, tls: boolean, location: object): UpstreamConnection | undefined {
    const idle = this.#idle;
    for (let i = idle.length - 1; i >= 0; i--) {
      const c = idle[i]!;
      if (c.peerName !== name || c.tls !== tls || (this.settings.local && c.location !== location)) {
        continue;
      }
      if (i === idle.length - 1) {
        idle.pop();
      } else {
        idle.splice(i, 1);
      }
      c.sent = 0;
      c.requests++;
      this.#changed();
      return c;
    }
    return undefined;
  }

  /** Keeps a connection whose response is complete, from `now` (monotonic) on. Returns false when it may not be used again. */
  put(c: UpstreamConnection, name: string, location: object, now: number): boolean {
    const settings = this.settings;
    if (c.closed || c.ended || c.broken || !c.flushed || c.requests >= settings.requests) {
      return false;
    }
    if (now - c.startedAt > settings.time) {
      return false;
    }
    const idle = this.#idle;
    if (idle.length >= settings.connections) {
      idle.shift()?.close();
    }
    c.owner = this;
    c.peerName = name;
    c.location = location;
    c.resume();
    c.deadline.set(now, settings.timeout);
    idle.push(c);
    this.#changed();
    return true;
  }

  /** Closes all connections, as when the worker leaves. */
  close(): void {
    for (const c of this.#idle.splice(0)) {
      c.close();
    }
  }

  #changed(): void {
    const { meter } = this;
    if (meter !== null) {
      meter.values[0] = this.#idle.length;
      meter.touch();
    }
  }

  #drop(c: UpstreamConnection): void {
    const i = this.#idle.indexOf(c);
    if (i !== -1) {
      this.#idle.splice(i, 1);
      this.#changed();
    }
    c.close();
  }

  connected(): void {}

  ready(): void {}

  received(c: UpstreamConnection): void {
    this.#drop(c);
  }

  ended(c: UpstreamConnection): void {
    this.#drop(c);
  }

  failed(c: UpstreamConnection): void {
    this.#drop(c);
  }

  drained(): void {}

  timedOut(c: UpstreamConnection): void {
    this.#drop(c);
  }
}
