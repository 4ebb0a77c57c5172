import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { Logger } from '../../shared/log/error-log.js';
import { ERROR } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';

/** Milliseconds that a name server may be silent over TCP. nginx: r->tcp_timeout. */
const TCP_TIMEOUT = 5000;
/** The longest answer over TCP, with its length before it. nginx: NGX_RESOLVER_TCP_RSIZE. */
const TCP_SIZE = 2 + 65535;

/** One name server: sends queries and gives what comes back to `answer`. nginx: ngx_resolver_connection_t. */
export class NameServer {
  readonly #address: string;
  readonly #port: number;
  readonly #log: Logger;
  readonly #answer: (bytes: Buffer, tcp: boolean) => void;
  #udp: DatagramSocket | undefined = undefined;
  #connected = false;
  #waiting: Buffer[] = [];

  constructor(address: string, port: number, log: Logger, answer: (bytes: Buffer, tcp: boolean) => void) {
    this.#address = address;
    this.#port = port;
    this.#log = log;
    this.#answer = answer;
  }

  /** Sends a query in a datagram. */
  send(query: Buffer): void {
    this.#udp ??= this.#open();
    if (this.#connected) {
      this.#udp.send(query);
    } else {
      this.#waiting.push(query);
    }
  }

  #open(): DatagramSocket {
    const family = isIPv6(this.#address) ? 6 : 4;
    const udp = createSocket({
      type: family === 6 ? 'udp6' : 'udp4',
      // It is an address already: nothing is to be looked up.
      lookup: ((host: string, _options: unknown, done: (error: null, address: string, family: number) => void) =>
        done(null, host, family)) as never,
    });
    udp.unref();
    udp.on('message', (bytes) => this.#answer(bytes, false));
    udp.on('error', (error) => {
      this.#failed('recv()', error);
      this.close();
    });
    // Only what this server sends is taken.
    udp.connect(this.#port, this.#address, () => {
      if (udp !== this.#udp) {
        return;
      }
      this.#connected = true;
      for (const query of this.#waiting.splice(0)) {
        udp.send(query);
      }
    });
    return udp;
  }

  #failed(call: string, error: Error): void {
    const name = isIPv6(this.#address) ? `[${this.#address}]` : this.#address;
    this.#log.log(ERROR, `${call} failed (${errnoText(error)}) while resolving, resolver: ${name}:${this.#port}`);
  }

  /** Asks again over TCP, for an answer that did not fit into a datagram. */
  sendTcp(query: Buffer): void {
    const socket = connect({ host: this.#address, port: this.#port, timeout: TCP_TIMEOUT });
    let bytes: Buffer | undefined;
    let size = 0;
    socket.unref();
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length);
    socket.write(Buffer.concat([length, query]));
    socket.on('data', (piece) => {
      bytes ??= Buffer.allocUnsafe(TCP_SIZE);
      size += piece.copy(bytes, size);
      if (size < 2 || size < 2 + bytes.readUInt16BE(0)) {
        return;
      }
      socket.destroy();
      this.#answer(bytes.subarray(2, 2 + bytes.readUInt16BE(0)), true);
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('error', (error) => this.#failed('connect()', error));
  }

  close(): void {
    this.#udp?.close();
    this.#udp = undefined;
    this.#connected = false;
    this.#waiting = [];
  }
}
