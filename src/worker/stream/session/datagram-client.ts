import { INFO } from '../../../shared/log/level.js';
import type { DatagramPeer, DatagramSocket } from '../../../shared/net/datagram-socket.js';
import type { Socket, SocketAddress } from '../../../shared/net/socket.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { StreamSession } from './session.js';
import type { SessionTable } from './session-table.js';

/**
 * A client of datagrams, as the socket of its session. Each write is a datagram to it, on the socket that all clients share; what it sends,
 * the acceptor gives to the session.
 */
export class DatagramClient implements Socket {
  readonly address: string;
  readonly port: number;
  readonly key: string;
  readonly #socket: DatagramSocket;
  readonly #peer: DatagramPeer;
  readonly #table: SessionTable<DatagramClient>;
  readonly #released: () => void;
  session!: StreamSession;

  /** `key`: what the table knows the client by. */
  constructor(key: string, peer: DatagramPeer, socket: DatagramSocket, table: SessionTable<DatagramClient>, released: () => void) {
    this.address = peer.address;
    this.port = peer.port;
    this.key = key;
    this.#socket = socket;
    this.#peer = peer;
    this.#table = table;
    this.#released = released;
  }

  remote(): SocketAddress {
    return this;
  }

  local(): SocketAddress {
    return this.#socket.local(this.#peer.local);
  }

  readonly descriptor = -1;
  readonly flushed = true;
  readonly blocked = false;
  readonly pending = false;
  readonly unsent = 0;
  readonly offerLimit = Number.MAX_SAFE_INTEGER;

  // Nothing is read on behalf of one client alone.
  start(): void {}

  pause(): void {}

  resume(): void {}

  expectMuch(): void {}

  write(data: string | Buffer): boolean {
    this.offer(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
    return true;
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    return this.writeJoined(before, bytes.subarray(start, end), after);
  }

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    return this.write(Buffer.concat([Buffer.from(before, 'latin1'), bytes, Buffer.from(after, 'latin1')]));
  }

  /** Sends a datagram, whose memory must not change. Returns its size: what the kernel does not take is lost, as a datagram may be. */
  offer(bytes: Buffer): number {
    const error = this.#socket.sendTo(bytes, this.#peer);
    if (error < 0) {
      this.session.log(INFO, `sendmsg() failed (${errnoText({ errno: error })})`);
    }
    return bytes.length;
  }

  // Each write is a datagram.
  cork(): void {}

  uncork(): void {}

  awaitFlush(): void {}

  end(): void {}

  /** The next datagram of the client begins another session. nginx: ngx_delete_udp_connection. */
  forget(): void {
    this.#table.remove(this);
  }

  close(): void {
    this.closeSoon();
  }

  /** The session is over. */
  closeSoon(): void {
    this.forget();
    this.#released();
  }

  leave(): void {
    this.closeSoon();
  }

  reset(): void {
    this.closeSoon();
  }
}
