import type { IdleMeter, KeepaliveSettings } from '../connection/idle-pool.js';
import { samePurpose, type TlsPurpose } from '../connection/tls-purpose.js';
import type { SharedConnection } from './shared-connection.js';

/** A connection, and what it is for: requests share it that would open the same. */
interface Entry {
  readonly connection: SharedConnection;
  readonly peerName: string;
  /** What it was opened for; null without TLS. */
  readonly purpose: TlsPurpose | null;
  readonly boundTo: string;
  /** The location that opened it. */
  readonly location: object;
}

/** The HTTP/2 connections of a group, with streams and without. nginx has one stream on each, and keeps them as those of HTTP/1. */
export class Http2Pool {
  readonly #settings: KeepaliveSettings;
  readonly #entries: Entry[] = [];
  /** Connections without streams; the one that has been so for longest is the first. */
  readonly #idle: SharedConnection[] = [];
  /** Counts a group's idle connections; null where nothing is counted. */
  meter: IdleMeter | null = null;
  #closed = false;

  constructor(settings: KeepaliveSettings) {
    this.#settings = settings;
  }

  /** A connection to a peer, opened alike, with room for another stream, `most` in all; undefined if there is none. */
  find(
    peerName: string,
    purpose: TlsPurpose | null,
    boundTo: string,
    location: object,
    most: number,
    now: number,
  ): SharedConnection | undefined {
    const entries = this.#entries;
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i]!;
      const { connection } = entry;
      if (entry.peerName !== peerName || !samePurpose(entry.purpose, purpose) || !connection.hasRoom(most)) {
        continue;
      }
      if (entry.boundTo !== boundTo || (this.#settings.local && entry.location !== location)) {
        continue;
      }
      const { requests, time } = this.#settings;
      if (connection.requests >= requests || now - connection.carrier.startedAt > time) {
        connection.retired = true;
        continue;
      }
      const at = this.#idle.indexOf(connection);
      if (at !== -1) {
        this.#idle.splice(at, 1);
        this.meter?.changed(-1);
        connection.carrier.deadline.clear();
      }
      return connection;
    }
    return undefined;
  }

  /** Has others share a connection that was opened for a location. */
  add(connection: SharedConnection, peerName: string, purpose: TlsPurpose | null, boundTo: string, location: object): void {
    this.#entries.push({ connection, peerName, purpose, boundTo, location });
  }

  /** A connection has no streams any more: it waits for others, unless enough do already. */
  idle(connection: SharedConnection): void {
    const { connections, timeout, requests } = this.#settings;
    if (this.#closed || connections === 0 || connection.requests >= requests) {
      connection.close();
      return;
    }
    if (this.#idle.length >= connections) {
      this.#idle[0]!.close();
    }
    this.#idle.push(connection);
    this.meter?.changed(1);
    connection.carrier.deadline.set(performance.now(), timeout);
  }

  /** A connection was closed. */
  forget(connection: SharedConnection): void {
    const at = this.#entries.findIndex((entry) => entry.connection === connection);
    if (at !== -1) {
      this.#entries.splice(at, 1);
    }
    const idle = this.#idle.indexOf(connection);
    if (idle !== -1) {
      this.#idle.splice(idle, 1);
      this.meter?.changed(-1);
    }
  }

  /** The worker leaves: idle connections close, the others once their streams are done. */
  close(): void {
    this.#closed = true;
    for (const connection of [...this.#idle]) {
      connection.close();
    }
    for (const { connection } of this.#entries) {
      connection.retired = true;
    }
  }
}
