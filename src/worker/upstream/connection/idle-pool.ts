import type { Meter } from '../../../shared/zone/meters.js';
import type { ChannelOwner } from './channel.js';
import type { UpstreamConnection } from './connection.js';
import { samePurpose, type TlsPurpose } from './tls-purpose.js';

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

/** Counts the idle connections of a group, those of HTTP/1 and of HTTP/2 together. */
export class IdleMeter {
  readonly #meter: Meter;
  #count = 0;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** There are so many more, or fewer. */
  changed(by: number): void {
    this.#count += by;
    this.#meter.values[0] = this.#count;
    this.#meter.touch();
  }
}

/** Connections to a group's peers that wait for another request. nginx: ngx_http_upstream_keepalive_module. */
export class IdlePool implements ChannelOwner {
  readonly settings: KeepaliveSettings;
  readonly r = null;
  /** The latest used is the last. */
  readonly #idle: UpstreamConnection[] = [];
  /** Counts a group's idle connections; null where nothing is counted. */
  meter: IdleMeter | null = null;

  constructor(settings: KeepaliveSettings) {
    this.settings = settings;
  }

  /** Takes the connection to a peer that was used last, of those that were opened alike; `purpose`: null without TLS. */
  take(name: string, purpose: TlsPurpose | null, boundTo: string, location: object): UpstreamConnection | undefined {
    const idle = this.#idle;
    for (let i = idle.length - 1; i >= 0; i--) {
      const c = idle[i]!;
      if (c.peerName !== name || c.boundTo !== boundTo || !samePurpose(c.purpose, purpose)) {
        continue;
      }
      if (this.settings.local && c.location !== location) {
        continue;
      }
      if (i === idle.length - 1) {
        idle.pop();
      } else {
        idle.splice(i, 1);
      }
      c.sent = 0;
      c.requests++;
      this.meter?.changed(-1);
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
      this.meter?.changed(-1);
    }
    c.owner = this;
    c.peerName = name;
    c.location = location;
    c.resume();
    c.deadline.set(now, settings.timeout);
    idle.push(c);
    this.meter?.changed(1);
    return true;
  }

  /** Closes all connections, as when the worker leaves. */
  close(): void {
    for (const c of this.#idle.splice(0)) {
      c.close();
    }
  }

  #drop(c: UpstreamConnection): void {
    const i = this.#idle.indexOf(c);
    if (i !== -1) {
      this.#idle.splice(i, 1);
      this.meter?.changed(-1);
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
