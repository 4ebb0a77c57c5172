import type { Socket } from 'node:net';
import { setTimer } from '../../shared/time/timer.js';

/** A connection to a server, and how it has been used. */
export interface FetchConnection {
  readonly socket: Socket;
  readonly key: string;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  requests: number;
}

interface PoolSettings {
  readonly fetchKeepalive: number;
  readonly fetchKeepaliveRequests: number;
  readonly fetchKeepaliveTime: number;
  readonly fetchKeepaliveTimeout: number;
}

interface Idle {
  readonly connection: FetchConnection;
  readonly timer: NodeJS.Timeout;
  readonly drop: () => void;
}

/** Connections that wait for another fetch of the same location. nginx: ngx_js_http_free_keepalive_connection. */
export class FetchPool {
  readonly #settings: PoolSettings;
  /** The latest used first. */
  readonly #idle: Idle[] = [];

  constructor(settings: PoolSettings) {
    this.#settings = settings;
  }

  /** An idle connection for the key, which is no longer the pool's. */
  take(key: string): FetchConnection | undefined {
    const at = this.#idle.findIndex(({ connection }) => connection.key === key);
    if (at === -1) {
      return undefined;
    }
    const [idle] = this.#idle.splice(at, 1);
    this.#forget(idle!);
    return idle!.connection;
  }

  /** Keeps a connection whose response is over, or closes it. */
  give(connection: FetchConnection): void {
    const { fetchKeepalive, fetchKeepaliveRequests, fetchKeepaliveTime, fetchKeepaliveTimeout } = this.#settings;
    const { socket } = connection;
    const old = performance.now() - connection.startedAt > fetchKeepaliveTime;
    if (connection.requests >= fetchKeepaliveRequests || old || fetchKeepalive === 0 || socket.destroyed || socket.readableEnded) {
      socket.destroy();
      return;
    }
    if (this.#idle.length >= fetchKeepalive) {
      this.#close(this.#idle.at(-1)!);
    }
    const drop = (): void => this.#close(idle);
    const idle: Idle = { connection, timer: setTimer(drop, fetchKeepaliveTimeout), drop };
    // A worker that leaves does not wait for it.
    idle.timer.unref();
    socket.unref();
    // What comes now, or the end, makes it useless.
    socket.on('data', drop).on('end', drop).on('error', drop).on('close', drop);
    this.#idle.unshift(idle);
  }

  #close(idle: Idle): void {
    const at = this.#idle.indexOf(idle);
    if (at !== -1) {
      this.#idle.splice(at, 1);
    }
    this.#forget(idle);
    idle.connection.socket.on('error', () => undefined).destroy();
  }

  #forget({ connection: { socket }, timer, drop }: Idle): void {
    clearTimeout(timer);
    socket.off('data', drop).off('end', drop).off('error', drop).off('close', drop).ref();
  }
}
