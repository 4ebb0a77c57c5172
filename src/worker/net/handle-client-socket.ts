import type { AcceptedSocket, SocketAddress, SocketOwner } from '../../shared/net/client-socket.js';
import { type ConnectionHandle, HandleSocket, remoteOf } from '../../shared/net/handle-socket.js';
import { writeMuchLent } from './lent.js';
import { JOIN_LIMIT } from './write-limits.js';

/** As much as libuv reads at once. */
const READ_SIZE = 64 * 1024;
/** Enough for nearly every request's head. */
const HEAD_SIZE = 4 * 1024;

// What all connections read into; it is used up before the next one is read.
let buffer: Buffer | undefined;
let headBuffer: Buffer | undefined;

/** A client's connection that was accepted just now. */
export class HandleClientSocket extends HandleSocket implements AcceptedSocket {
  #owner: SocketOwner | undefined = undefined;
  /** What is read into is to be the longer one. */
  #much = false;

  get descriptor(): number {
    return this.handle.fd ?? -1;
  }

  remote(): SocketAddress {
    return remoteOf(this.handle);
  }

  get empty(): boolean {
    return !this.pending;
  }

  keepAlive(): void {
    this.handle.setKeepAlive?.(true, 0);
  }

  start(owner: SocketOwner): void {
    const first = this.#owner === undefined;
    this.#owner = owner;
    if (first) {
      buffer ??= Buffer.allocUnsafeSlow(READ_SIZE);
      headBuffer ??= Buffer.allocUnsafeSlow(HEAD_SIZE);
      this.startReading();
    }
  }

  protected memory(): Buffer {
    return (this.#much ? buffer : headBuffer) as Buffer;
  }

  expectMuch(much: boolean): void {
    this.#much = much;
  }

  protected bytesCame(bytes: Buffer, length: number): void {
    this.#owner!.received(bytes, length, true);
  }

  protected endCame(): void {
    this.#owner!.clientEnded(false);
  }

  protected failed(errno: number, syscall: string): void {
    if (syscall === 'read') {
      this.#owner?.readFailed?.(errno);
    }
    this.close();
  }

  protected allSent(): void {
    this.#owner?.flushed();
  }

  protected override gone(): void {
    this.#owner?.socketClosed();
  }

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    if (this.closed) {
      return this.dropped(before.length + bytes.length + after.length);
    }
    if (before.length + bytes.length + after.length > JOIN_LIMIT) {
      const pieces = [before, 'latin1', bytes, 'buffer'];
      if (after !== '') {
        pieces.push(after, 'latin1');
      }
      return this.writePieces(pieces);
    }
    return this.writeCopy(before, bytes, 0, bytes.length, after);
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    if (before.length + end - start + after.length > JOIN_LIMIT) {
      return writeMuchLent(this, before, bytes.subarray(start, end), after);
    }
    return this.closed ? this.dropped(before.length + end - start + after.length) : this.writeCopy(before, bytes, start, end, after);
  }

  get offerLimit(): number {
    return Number.POSITIVE_INFINITY;
  }

  // A write that returned true is in the kernel.
  awaitFlush(): void {}

  reset(): void {
    if (this.closed) {
      return;
    }
    this.noteUnsent();
    // A connection that was ended already, or is none of TCP, cannot be reset.
    if (this.handle.reset === undefined || this.handle.reset(() => this.gone()) !== 0) {
      this.close();
    } else {
      this.closed = true;
    }
  }

  /** Gives the handle, which is being read, to somebody who does all else with it. */
  release(): ConnectionHandle {
    this.resume();
    this.closed = true;
    return this.handle;
  }
}
