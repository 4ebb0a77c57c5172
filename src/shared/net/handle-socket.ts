// A connection without a `net.Socket`: libuv's handle and nothing else, so that neither an idle connection nor a request pays for
// node:stream's two machines. Node has no public way to do that.
import { writeSync } from 'node:fs';
import { withoutZone } from '../address/zone-id.js';
import { spoil } from '../system/spoil.js';
import type { SocketAddress } from './client-socket.js';
import { type ByteHandle, type HandleBinding, handleBinding, keepRequest, type WriteRequest, writeRequest } from './handle-binding.js';
import { joined, keepJoined } from './joined.js';

interface Address {
  address?: string | undefined;
  port?: number;
}

/** libuv's wrapper of a TCP or Unix-domain connection. */
export interface ConnectionHandle extends ByteHandle {
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
  close(done?: () => void): void;
  reset?(done: () => void): number;
}

const EOF = -4095;

/** Most connections come to the same address, whose text they share. */
let lastLocal: string | undefined;

let state: Int32Array | undefined;
let lengthAt = 0;

function onRead(this: ConnectionHandle): Buffer | undefined {
  return (this.client as HandleSocket).read(state![lengthAt]!);
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

/** Gives the kernel as much of the bytes as it has room for, and returns how many. Throws node:fs's error when the connection is broken. */
function offerTo(handle: ByteHandle, bytes: Buffer): number {
  if (handle.fd === undefined || handle.fd < 0) {
    return 0;
  }
  try {
    return writeSync(handle.fd, bytes, 0, bytes.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
      return 0;
    }
    throw error;
  }
}

/** Tells whether this Node lets its handles be used; `net.Socket` does the work otherwise. */
export const handlesWork = (): boolean => handleBinding() !== null;

/** What a client's and a backend's connection have in common. See {@link handlesWork}. */
export abstract class HandleSocket {
  protected readonly node: HandleBinding;
  protected readonly handle: ConnectionHandle;
  /** Writes that the kernel did not take at once. */
  #waiting = 0;
  #reading = false;
  /** What is read into. */
  #buffer: Buffer | undefined = undefined;
  #closing = false;
  /** How much libuv had after the latest write that the kernel did not take at once, and what was written since the connection's end. */
  #left = 0;
  /** Nothing is done with the handle any more. */
  protected closed = false;

  constructor(handle: ConnectionHandle) {
    this.node = handleBinding() as HandleBinding;
    this.handle = handle;
    handle.client = this;
  }

  /** What the next bytes are to be read into. */
  protected abstract memory(): Buffer;
  protected abstract bytesCame(bytes: Buffer, length: number): void;
  protected abstract endCame(): void;
  /** A call of the system said this negated error number. */
  protected abstract failed(errno: number, syscall: 'read' | 'write' | 'shutdown'): void;
  /** The kernel took everything that writes had left over. */
  protected abstract allSent(): void;
  /** The handle is closed. Absent where nobody wants to know: it takes a call from libuv. */
  protected gone?(): void;

  local(): SocketAddress {
    return localOf(this.handle);
  }

  /** A write is under way. */
  get pending(): boolean {
    return this.#waiting > 0;
  }

  /** How much of what was written the kernel has not taken, or has never taken. */
  get unsent(): number {
    return this.closed ? this.#left : this.handle.writeQueueSize;
  }

  /** Notes what was never sent: afterwards libuv does not know it. */
  protected noteUnsent(): void {
    // What libuv had is gone when it tells of an error.
    this.#left = this.#waiting > 0 ? this.handle.writeQueueSize : this.#left;
  }

  /** So many bytes came too late to be sent. */
  protected dropped(bytes: number): true {
    this.#left += bytes;
    return true;
  }

  /** Begins to read. */
  protected startReading(): void {
    const { node, handle } = this;
    state ??= node.streamBaseState;
    lengthAt = node.kReadBytesOrError;
    this.#buffer = this.memory();
    handle.useUserBuffer(this.#buffer);
    handle.onread = onRead;
    this.#readOn();
  }

  /** So many bytes came into the common memory, or an error number. Returns what is to be read into from now on, if that changes. */
  read(length: number): Buffer | undefined {
    if (this.closed || length === 0) {
      return undefined;
    }
    const read = this.#buffer as Buffer;
    if (length > 0) {
      this.bytesCame(read, length);
      spoil(read, 0, length);
    } else if (length === EOF) {
      this.endCame();
    } else {
      this.failed(length, 'read');
    }
    const next = this.memory();
    if (next === read) {
      return undefined;
    }
    this.#buffer = next;
    return next;
  }

  pause(): void {
    if (!this.#reading || this.closed) {
      return;
    }
    this.#reading = false;
    this.handle.readStop();
  }

  resume(): void {
    this.#readOn();
  }

  #readOn(): void {
    if (this.#reading || this.closed) {
      return;
    }
    this.#reading = true;
    const error = this.handle.readStart();
    if (error !== 0) {
      this.failed(error, 'read');
    }
  }

  /** Sends text (latin1) or bytes, which must not change until all is sent. Returns false when that takes time. */
  write(data: string | Buffer): boolean {
    if (this.closed) {
      return this.dropped(data.length);
    }
    const { handle } = this;
    const request = writeRequest(this.node);
    return this.#written(typeof data === 'string' ? handle.writeLatin1String(request, data) : handle.writeBuffer(request, data), data);
  }

  /** Sends pieces and their encodings, in turns, with one call. */
  protected writePieces(pieces: readonly (string | Buffer)[]): boolean {
    return this.#written(this.handle.writev(writeRequest(this.node), pieces, false), pieces);
  }

  /** Sends text, the bytes `start..end` and text, which are put together: not more than JOIN_LIMIT. */
  protected writeCopy(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    const whole = joined(before, bytes, start, end, after);
    if (this.#written(this.handle.writeBuffer(writeRequest(this.node), whole), whole)) {
      return true;
    }
    keepJoined();
    return false;
  }

  #written(error: number, data: unknown): boolean {
    if (error !== 0) {
      this.failed(error, 'write');
      return true;
    }
    if (this.node.streamBaseState[this.node.kLastWriteWasAsync] === 0) {
      return true;
    }
    const request = keepRequest();
    request.oncomplete = (status) => this.#done(status);
    request.data = data;
    this.#waiting++;
    this.#left = this.handle.writeQueueSize;
    return false;
  }

  #done(status: number): void {
    this.#waiting--;
    if (this.closed) {
      return;
    }
    if (status < 0) {
      this.failed(status, 'write');
    } else if (this.#waiting === 0) {
      this.#left = 0;
      if (this.#closing) {
        this.close();
      } else {
        this.allSent();
      }
    }
  }

  /**
   * Gives the kernel as many of the bytes as it has room for, and returns how many: their memory is the caller's again.
   */
  offer(bytes: Buffer): number {
    if (this.closed || this.#waiting > 0) {
      return 0;
    }
    try {
      return offerTo(this.handle, bytes);
    } catch (error) {
      this.failed((error as NodeJS.ErrnoException).errno!, 'write');
      return 0;
    }
  }

  /** Sends what is left, and then that this is the end. Reading goes on. */
  end(): void {
    if (this.closed) {
      return;
    }
    const request = new this.node.ShutdownWrap();
    request.oncomplete = ignore;
    const error = this.handle.shutdown(request);
    if (error < 0) {
      this.failed(error, 'shutdown');
    }
  }

  /** Closes at once: what was not sent is dropped. */
  close(): void {
    if (!this.closed) {
      this.noteUnsent();
      this.closed = true;
      this.handle.close(this.gone === undefined ? undefined : () => this.gone!());
    }
  }

  /** Closes once everything is sent. */
  closeSoon(): void {
    if (this.#waiting === 0) {
      this.close();
    } else {
      this.#closing = true;
    }
  }
}

const ignore = (): void => {};
