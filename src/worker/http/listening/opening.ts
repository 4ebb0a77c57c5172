import type { Socket } from 'node:net';
import { withoutZone } from '../../../shared/lib/zone-id.js';
import { ERROR, INFO, type Level } from '../../../shared/log/level.js';
import type { LogContext, LogSubject } from '../../../shared/log/log-line.js';
import { type ProxyProtocolHeader, readProxyProtocol } from '../../../shared/net/proxy-protocol.js';
import type { Idle, IdleQueue } from '../../client/idle-queue.js';
import { Deadline, type Expiring } from '../../io/deadline.js';
import type { Opened } from '../connection/opened.js';
import type { AddressRuntime, TlsAccepted } from '../request/address-runtime.js';

/** The first byte of a TLS record that holds a hello; SSLv2's has its high bit set. */
const HANDSHAKE = 0x16;

/** Tells TLS from plain HTTP by the first byte. */
export const isTls = (first: number): boolean => first === HANDSHAKE || (first & 0x80) !== 0;

/**
 * A connection to a port for TLS before its first request: its handshake, and the PROXY protocol header that may come before that.
 * nginx: ngx_http_ssl_handshake.
 */
export class Opening implements Expiring, Idle, LogSubject {
  readonly connectionId: number;
  idleBefore: Idle | null = null;
  idleAfter: Idle | null = null;
  heldAt = -1;
  readonly #idle: IdleQueue;
  readonly #socket: Socket;
  readonly #address: AddressRuntime;
  readonly #done: (opened: Opened | undefined) => void;
  readonly #deadline = new Deadline(this);
  #action: string;
  #proxyProtocol: ProxyProtocolHeader | undefined = undefined;
  /** What came of a PROXY protocol header. */
  #held: Buffer | null = null;
  #finished = false;

  /**
   * The opening is in the `idle` queue until a handshake begins. It calls `done` once: with what it found, or with nothing if the
   * connection was closed.
   */
  constructor(socket: Socket, address: AddressRuntime, id: number, idle: IdleQueue, done: (opened: Opened | undefined) => void) {
    this.#socket = socket;
    this.#address = address;
    this.#idle = idle;
    this.connectionId = id;
    this.#done = done;
    this.#action = address.proxyProtocol ? 'reading PROXY protocol' : 'SSL handshaking';
  }

  logContext(): LogContext {
    return { action: this.#action, client: withoutZone(this.#socket.remoteAddress) ?? 'unix:', server: this.#address.listener };
  }

  start(): void {
    this.#deadline.set(performance.now(), this.#address.defaultServer.settings.clientHeaderTimeout);
    this.#idle.add(this);
    const socket = this.#socket;
    socket.on('readable', this.#readable);
    socket.on('end', this.#ended);
    socket.on('error', this.#ended);
    socket.on('close', this.#ended);
  }

  readonly #readable = (): void => {
    const bytes = this.#socket.read() as Buffer | null;
    if (bytes === null) {
      return;
    }
    if (!this.#address.proxyProtocol || this.#proxyDone) {
      this.#protocol(bytes);
    } else {
      this.#proxyHeader(bytes);
    }
  };

  #proxyDone = false;

  #proxyHeader(piece: Buffer): void {
    const bytes = this.#held === null ? piece : Buffer.concat([this.#held, piece]);
    const result = readProxyProtocol(bytes);
    if (result.kind === 'more') {
      // Given back to the socket, they would be announced again at once, for ever.
      this.#held = bytes;
      return;
    }
    this.#held = null;
    if (result.kind === 'invalid') {
      this.#log(ERROR, result.message);
      this.#giveUp();
      return;
    }
    this.#proxyProtocol = result.header;
    this.#proxyDone = true;
    const rest = bytes.subarray(result.size);
    if (rest.length > 0) {
      this.#protocol(rest);
    } else {
      this.#action = 'SSL handshaking';
    }
  }

  /** The first byte tells TLS from plain HTTP. */
  #protocol(bytes: Buffer): void {
    this.#socket.unshift(bytes);
    if (!isTls(bytes[0]!)) {
      this.#finish(undefined, true);
      return;
    }
    this.#detach();
    this.#idle.remove(this);
    this.#action = 'SSL handshaking';
    this.#address.tls!.accept(this.#socket, (result) => {
      if (this.#finished) {
        return;
      }
      if ('message' in result) {
        this.#log(result.level, result.message);
        this.#giveUp();
      } else {
        this.#finish(result, false);
      }
    });
  }

  #finish(tls: TlsAccepted | undefined, plainOnTls: boolean): void {
    if (this.#finished) {
      return;
    }
    this.#finished = true;
    this.#detach();
    this.#idle.remove(this);
    this.#deadline.close();
    this.#done({ tls, proxyProtocol: this.#proxyProtocol, plainOnTls });
  }

  readonly #ended = (): void => {
    if (!this.#finished) {
      this.#log(INFO, 'client closed connection');
      this.#giveUp();
    }
  };

  expired(): void {
    this.#log(INFO, 'client timed out');
    this.#address.tls?.timedOut();
    this.#giveUp();
  }

  /** Ends the connection: it has not begun anything that could be waited for. */
  kill(): void {
    this.#giveUp();
  }

  /** A handshake under way is finished: a request follows it. */
  drain(): void {}

  closeIdle(): void {
    this.#giveUp();
  }

  #giveUp(): void {
    if (this.#finished) {
      return;
    }
    this.#finished = true;
    this.#detach();
    this.#idle.remove(this);
    this.#deadline.close();
    this.#socket.on('error', () => {});
    this.#socket.destroy();
    this.#done(undefined);
  }

  #detach(): void {
    const socket = this.#socket;
    socket.removeListener('readable', this.#readable);
    socket.removeListener('end', this.#ended);
    socket.removeListener('error', this.#ended);
    socket.removeListener('close', this.#ended);
  }

  #log(level: Level, message: string): void {
    const { log } = this.#address.defaultServer.root;
    if (level <= log.level) {
      log.log(level, message, this);
    }
  }
}
