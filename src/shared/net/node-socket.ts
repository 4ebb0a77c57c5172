import type { Socket } from 'node:net';
import { EMPTY } from '../lib/empty.js';
import { withoutZone } from '../lib/zone-id.js';
import type { ClientSocket, SocketAddress, SocketOwner } from './client-socket.js';
import { DirectWriter, JOIN_LIMIT, REFUSED, WRITTEN } from './direct-writer.js';
import { awaitClient, clientStays, type EndedSocket } from './end-of-tls.js';
import { writeMuchLent } from './lent.js';
import { readInto } from './read-into.js';
import { resetConnection } from './reset.js';

/** Up to this size head and body are copied into one buffer, which is cheaper than two writes. */
const COPY_LIMIT = 32 * 1024;
/** A client's connection on one of Node's sockets: that of TLS, or one that somebody else read from first. */
export class NodeSocket implements ClientSocket, EndedSocket {
  readonly #socket: Socket;
  readonly #tls: boolean;
  readonly #direct: DirectWriter;
  readonly #onFlushed: () => void;
  #owner: SocketOwner | undefined = undefined;
  stays = false;
  /** What was never sent, once it is closed. */
  #left: number | undefined = undefined;

  /** `tls`: the socket has a cipher for a handle. */
  constructor(socket: Socket, tls: boolean) {
    this.#socket = socket;
    this.#tls = tls;
    this.#onFlushed = () => this.#owner?.flushed();
    this.#direct = new DirectWriter(socket, this.#onFlushed, tls);
  }

  get descriptor(): number {
    return (this.#socket as unknown as { readonly _handle: { readonly fd?: number } | null })._handle?.fd ?? -1;
  }

  remote(): SocketAddress {
    return { address: withoutZone(this.#socket.remoteAddress), port: this.#socket.remotePort };
  }

  local(): SocketAddress {
    return { address: withoutZone(this.#socket.localAddress), port: this.#socket.localPort };
  }

  get empty(): boolean {
    return this.#direct.empty;
  }

  get unsent(): number {
    return this.#left ?? this.#direct.unsent;
  }

  /** Notes what was never sent, while that is known. */
  #noteUnsent(): void {
    this.#left ??= this.#direct.unsent;
  }

  get pending(): boolean {
    return this.#direct.pending;
  }

  start(owner: SocketOwner): void {
    const first = this.#owner === undefined;
    this.#owner = owner;
    if (!first) {
      return;
    }
    const socket = this.#socket;
    socket.on('drain', this.#onFlushed);
    socket.on('end', () => this.#ended());
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#noteUnsent();
      this.#owner!.socketClosed();
    });
    if (this.#tls && readInto(socket, (bytes, length) => this.#owner!.received(bytes, length, true))) {
      return;
    }
    socket.on('data', (bytes: Buffer) => void this.#owner!.received(bytes, bytes.length, false));
  }

  #ended(): void {
    this.stays = this.#tls && clientStays(this.descriptor);
    this.#owner!.clientEnded(this.stays);
    if (this.#tls && !this.#socket.destroyed) {
      awaitClient(this);
    }
  }

  clientWent(): void {
    this.stays = false;
    this.#owner!.clientEnded(false);
  }

  clientBroke(): void {
    this.close();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  // Node reads as much as it likes.
  expectMuch(): void {}

  write(data: string | Buffer): boolean {
    const code = this.#direct.write(data);
    if (code !== REFUSED) {
      return code === WRITTEN;
    }
    return typeof data === 'string' ? this.#socket.write(data, 'latin1') : this.#socket.write(data);
  }

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    const code = this.#direct.writeJoined(before, bytes, 0, bytes.length, after);
    if (code !== REFUSED) {
      return code === WRITTEN;
    }
    const size = bytes.length;
    const total = before.length + size + after.length;
    if (total <= COPY_LIMIT) {
      const whole = Buffer.allocUnsafe(total);
      whole.write(before, 0, before.length, 'latin1');
      bytes.copy(whole, before.length);
      if (after !== '') {
        whole.write(after, before.length + size, after.length, 'latin1');
      }
      return this.write(whole);
    }
    const socket = this.#socket;
    this.#direct.hold();
    socket.cork();
    if (before !== '') {
      socket.write(before, 'latin1');
    }
    let flowing = socket.write(bytes);
    if (after !== '') {
      flowing = socket.write(after, 'latin1');
    }
    socket.uncork();
    return flowing;
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    const piece = bytes.subarray(start, end);
    // A piece of this length is copied, however it leaves.
    const small = before.length + piece.length + after.length <= JOIN_LIMIT;
    return small ? this.writeJoined(before, piece, after) : writeMuchLent(this, before, piece, after);
  }

  get offerLimit(): number {
    return this.#direct.offerLimit;
  }

  offer(bytes: Buffer): number {
    return this.#direct.offer(bytes);
  }

  // Node tells when its buffer has drained only if a write returned false.
  awaitFlush(): void {
    if (this.#direct.pending) {
      return;
    }
    this.#direct.hold();
    this.#socket.write(EMPTY, this.#onFlushed);
  }

  end(): void {
    this.#direct.hold();
    this.#socket.end();
  }

  close(): void {
    this.#noteUnsent();
    this.#socket.destroy();
  }

  closeSoon(): void {
    const socket = this.#socket;
    if (socket.destroyed) {
      return;
    }
    // A client of TLS must be told that this is the end, or it takes what it got for cut off.
    if (!this.#tls && this.empty && !socket.writableEnded) {
      socket.destroy();
      return;
    }
    this.#direct.hold();
    socket.destroySoon();
  }

  reset(): void {
    this.#noteUnsent();
    resetConnection(this.#socket);
  }
}
