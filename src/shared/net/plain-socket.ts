// A client's connection without a `net.Socket`: libuv's handle and nothing else, so that neither an idle connection nor a request pays for
// node:stream's two machines. Node has no public way to do that.
import { withoutZone } from '../lib/zone-id.js';
import type { AcceptedSocket, SocketAddress, SocketOwner } from './client-socket.js';
import { JOIN_LIMIT, offerTo } from './direct-writer.js';
import { joined, keepJoined } from './joined.js';
import { writeMuchLent } from './lent.js';
import { keepRequest, type StreamBinding, type StreamHandle, streamBinding, type WriteRequest, writeRequest } from './stream-binding.js';

interface Address {
  address?: string | undefined;
  port?: number;
}

/** libuv's wrapper of an accepted TCP or Unix-domain connection. */
export interface ConnectionHandle extends StreamHandle {
  /** How many bytes the kernel has not taken yet. */
  readonly writeQueueSize: number;
  /** What it returns is read into from then on. */
  onread: ((this: ConnectionHandle) => Buffer | undefined) | undefined;
  /** What serves it. */
  client?: unknown;
  useUserBuffer(buffer: Buffer): void;
  readStart(): number;
  readStop(): number;
  setNoDelay?(on: boolean): number;
  setKeepAlive?(on: boolean, delay: number): number;
  getpeername?(into: Address): number;
  getsockname?(into: Address): number;
  shutdown(request: WriteRequest): number;
  close(done: () => void): void;
  reset?(done: () => void): number;
}

/** As much as libuv reads at once. */
const READ_SIZE = 64 * 1024;
/** Enough for nearly every request's head. */
const HEAD_SIZE = 4 * 1024;
const EOF = -4095;

/** Most connections come to the same address, whose text they share. */
let lastLocal: string | undefined;

// What all connections read into; it is used up before the next one is read.
let buffer: Buffer | undefined;
let headBuffer: Buffer | undefined;
let state: Int32Array | undefined;
let lengthAt = 0;

function onRead(this: ConnectionHandle): Buffer | undefined {
  return (this.client as PlainSocket).read(state![lengthAt]!);
}

/** Where the other end of a connection is. */
export function remoteOf(handle: ConnectionHandle): SocketAddress {
  const peer: Address = {};
  handle.getpeername?.(peer);
  peer.address = withoutZone(peer.address);
  return peer;
}

/** Where this end of a connection is. */
export function localOf(handle: ConnectionHandle): SocketAddress {
  const local: Address = {};
  handle.getsockname?.(local);
  local.address = withoutZone(local.address);
  if (local.address === lastLocal) {
    local.address = lastLocal;
  } else {
    lastLocal = local.address;
  }
  return local;
}

/** Tells whether this Node lets its handles be used; `net.Socket` does the work otherwise. */
export const canBePlain = (): boolean => streamBinding() !== null;

/** A connection that was accepted just now. See {@link canBePlain}. */
export class PlainSocket implements AcceptedSocket {
  readonly #node: StreamBinding;
  readonly #handle: ConnectionHandle;
  #owner: SocketOwner | undefined = undefined;
  /** Writes that the kernel did not take at once. */
  #waiting = 0;
  #reading = false;
  /** What is read into, and whether that is to be the longer one. */
  #buffer: Buffer | undefined = undefined;
  #much = false;
  #closed = false;
  #closing = false;

  constructor(handle: ConnectionHandle) {
    this.#node = streamBinding() as StreamBinding;
    this.#handle = handle;
    handle.client = this;
  }

  get descriptor(): number {
    return this.#handle.fd ?? -1;
  }

  remote(): SocketAddress {
    return remoteOf(this.#handle);
  }

  local(): SocketAddress {
    return localOf(this.#handle);
  }

  get empty(): boolean {
    return this.#waiting === 0;
  }

  get pending(): boolean {
    return this.#waiting > 0;
  }

  keepAlive(): void {
    this.#handle.setKeepAlive?.(true, 0);
  }

  start(owner: SocketOwner): void {
    const first = this.#owner === undefined;
    this.#owner = owner;
    if (!first) {
      return;
    }
    if (buffer === undefined) {
      buffer = Buffer.allocUnsafeSlow(READ_SIZE);
      headBuffer = Buffer.allocUnsafeSlow(HEAD_SIZE);
      state = this.#node.streamBaseState;
      lengthAt = this.#node.kReadBytesOrError;
    }
    this.#buffer = headBuffer as Buffer;
    this.#handle.useUserBuffer(this.#buffer);
    this.#handle.onread = onRead;
    this.resume();
  }

  /** So many bytes came into the common memory, or an error number. Returns what is to be read into from now on, if that changes. */
  read(length: number): Buffer | undefined {
    if (this.#closed || length === 0) {
      return undefined;
    }
    const read = this.#buffer as Buffer;
    if (length > 0) {
      this.#owner!.received(read, length, true);
    } else if (length === EOF) {
      this.#owner!.clientEnded();
    } else {
      this.#owner!.readFailed?.(length);
      this.close();
    }
    const next = this.#much ? buffer : headBuffer;
    if (next === read) {
      return undefined;
    }
    this.#buffer = next;
    return next;
  }

  expectMuch(much: boolean): void {
    this.#much = much;
  }

  pause(): void {
    if (!this.#reading || this.#closed) {
      return;
    }
    this.#reading = false;
    this.#handle.readStop();
  }

  resume(): void {
    if (this.#reading || this.#closed) {
      return;
    }
    this.#reading = true;
    if (this.#handle.readStart() !== 0) {
      this.close();
    }
  }

  write(data: string | Buffer): boolean {
    if (this.#closed) {
      return true;
    }
    const request = writeRequest(this.#node);
    const handle = this.#handle;
    return this.#written(typeof data === 'string' ? handle.writeLatin1String(request, data) : handle.writeBuffer(request, data), data);
  }

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    if (this.#closed) {
      return true;
    }
    if (before.length + bytes.length + after.length > JOIN_LIMIT) {
      const pieces = [before, 'latin1', bytes, 'buffer'];
      if (after !== '') {
        pieces.push(after, 'latin1');
      }
      return this.#written(this.#handle.writev(writeRequest(this.#node), pieces, false), pieces);
    }
    return this.#writeCopy(before, bytes, 0, bytes.length, after);
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    if (before.length + end - start + after.length > JOIN_LIMIT) {
      return writeMuchLent(this, before, bytes.subarray(start, end), after);
    }
    return this.#closed || this.#writeCopy(before, bytes, start, end, after);
  }

  #writeCopy(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    const whole = joined(before, bytes, start, end, after);
    if (this.#written(this.#handle.writeBuffer(writeRequest(this.#node), whole), whole)) {
      return true;
    }
    keepJoined();
    return false;
  }

  #written(error: number, data: unknown): boolean {
    if (error !== 0) {
      this.close();
      return true;
    }
    if (this.#node.streamBaseState[this.#node.kLastWriteWasAsync] === 0) {
      return true;
    }
    const request = keepRequest();
    request.oncomplete = (status) => this.#done(status);
    request.data = data;
    this.#waiting++;
    return false;
  }

  #done(status: number): void {
    this.#waiting--;
    if (this.#closed) {
      return;
    }
    if (status < 0) {
      this.close();
    } else if (this.#waiting === 0) {
      if (this.#closing) {
        this.close();
      } else {
        this.#owner?.flushed();
      }
    }
  }

  get offerLimit(): number {
    return Number.POSITIVE_INFINITY;
  }

  offer(bytes: Buffer): number {
    if (this.#closed || this.#waiting > 0) {
      return 0;
    }
    try {
      return offerTo(this.#handle, bytes);
    } catch {
      this.close();
      return 0;
    }
  }

  // A write that returned true is in the kernel.
  awaitFlush(): void {}

  end(): void {
    if (this.#closed) {
      return;
    }
    const request = new this.#node.ShutdownWrap();
    request.oncomplete = () => {};
    if (this.#handle.shutdown(request) < 0) {
      this.close();
    }
  }

  close(): void {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    this.#handle.close(() => this.#owner?.socketClosed());
  }

  closeSoon(): void {
    if (this.#waiting === 0) {
      this.close();
    } else {
      this.#closing = true;
    }
  }

  reset(): void {
    if (this.#closed) {
      return;
    }
    const done = (): void => this.#owner?.socketClosed();
    // A connection that was ended already, or is none of TCP, cannot be reset.
    if (this.#handle.reset === undefined || this.#handle.reset(done) !== 0) {
      this.close();
    } else {
      this.#closed = true;
    }
  }

  /** Gives the handle, which is being read, to somebody who does all else with it. */
  release(): ConnectionHandle {
    this.resume();
    this.#closed = true;
    return this.#handle;
  }
}
