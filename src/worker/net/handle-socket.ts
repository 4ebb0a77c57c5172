// Long, because one object is all of a connection: libuv's handle and this, without a `net.Socket`, so that neither an idle connection nor
// a request pays for node:stream's two machines. Node has no public way to do that.
import { writeSync } from 'node:fs';
import { type ConnectionHandle, localOf, remoteOf } from '../../shared/net/connection-handle.js';
import { type HandleBinding, handleBinding, keepRequest, writeRequest } from '../../shared/net/handle-binding.js';
import { joined, keepJoined } from '../../shared/net/joined.js';
import { SEGMENT } from '../../shared/net/segment.js';
import type { AcceptedSocket, BackendTarget, SocketAddress, SocketOwner } from '../../shared/net/socket.js';
import { systemError } from '../../shared/net/system-error.js';
import { spoil } from '../../shared/system/spoil.js';
import { setTimer } from '../../shared/time/timer.js';
import { beginToConnect, type Connecting, newHandle } from './handle-connect.js';
import { writeMuchLent } from './lent.js';
import { JOIN_LIMIT, LAST_BYTES } from './write-limits.js';

const EOF = -4095;
/** Enough for nearly every request's head. */
const HEAD_SIZE = 4 * 1024;

// What all connections read into; it is used up before the next one is read: whoever keeps bytes copies them.
let buffer: Buffer | undefined;
let headBuffer: Buffer | undefined;

let state: Int32Array | undefined;
let lengthAt = 0;

function onRead(this: ConnectionHandle): Buffer | undefined {
  return (this.client as HandleSocket).read(state![lengthAt]!);
}

/** A connection on libuv's handle, accepted or begun here. */
export class HandleSocket implements AcceptedSocket, Connecting {
  readonly #node: HandleBinding;
  readonly #handle: ConnectionHandle;
  #owner: SocketOwner | undefined;
  /** The connection leads to a backend. */
  readonly #outward: boolean;
  /** The handle can be told to read. */
  #readable: boolean;
  /** The owner wants what comes. */
  #flowing: boolean;
  #started = false;
  #reading = false;
  /** What is read into is to be the longer one. */
  #much: boolean;
  /** What is read into. */
  #buffer: Buffer | undefined = undefined;
  /** Writes that the kernel did not take at once. */
  #waiting = 0;
  /** What was written while it is to leave together, each piece before its encoding; null at other times. */
  #corked: (string | Buffer)[] | null = null;
  #corks = 0;
  /** The owner waits to be told that all has left, though nothing may be waiting. */
  #tells = false;
  /** How much libuv had after the latest write that the kernel did not take at once, and what was written since the connection's end. */
  #left = 0;
  #closing = false;
  /** The owner is about to be told that the connection broke. */
  #broken = false;
  /** Nothing is done with the handle any more. */
  #closed = false;

  /** `owner`: of a connection that is begun here. */
  constructor(handle: ConnectionHandle, owner?: SocketOwner) {
    this.#node = handleBinding();
    this.#handle = handle;
    this.#owner = owner;
    this.#outward = owner !== undefined;
    this.#readable = !this.#outward;
    this.#much = this.#outward;
    this.#flowing = this.#outward;
    handle.client = this;
  }

  /** Begins to connect to a backend. What comes of it is told to the owner after this has returned. */
  static connect(target: BackendTarget, owner: SocketOwner): HandleSocket {
    const handle = newHandle(target);
    const socket = new HandleSocket(handle, owner);
    const failure = beginToConnect(handle, target, socket);
    if (failure !== undefined) {
      socket.#fail(failure);
    } else if (target.port !== 0) {
      // Now rather than once it is connected: libuv then asks the kernel twice less for what is to be watched.
      socket.#readable = true;
      socket.resume();
    }
    return socket;
  }

  /** The connection is there, or an error number says why not. */
  connectEnded(status: number): void {
    if (this.#closed) {
      return;
    }
    if (status < 0) {
      this.close();
      this.#owner!.socketFailed?.(systemError(status, 'connect'));
      return;
    }
    this.#readable = true;
    if (this.#flowing) {
      this.resume();
    }
    this.#owner!.socketOpened?.();
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

  keepAlive(): void {
    this.#handle.setKeepAlive?.(true, 0);
  }

  // ---------------------------------------------------------------- reading

  start(owner: SocketOwner): void {
    this.#owner = owner;
    if (!this.#started) {
      this.resume();
    }
  }

  expectMuch(much: boolean): void {
    this.#much = much;
  }

  /** What the next bytes are to be read into. */
  #memory(): Buffer {
    return (this.#much ? buffer : headBuffer) as Buffer;
  }

  /** `length` bytes came into the common memory, or an error number. Returns what is to be read into from now on, if that changes. */
  read(length: number): Buffer | undefined {
    if (this.#closed || length === 0) {
      return undefined;
    }
    const read = this.#buffer as Buffer;
    if (length > 0) {
      this.#owner!.socketReceived(read, length, true);
      spoil(read, 0, length);
    } else if (length === EOF) {
      this.#owner!.socketEnded(false);
    } else {
      this.#failed(length, 'read');
    }
    const next = this.#memory();
    if (next === read) {
      return undefined;
    }
    this.#buffer = next;
    return next;
  }

  pause(): void {
    this.#flowing = false;
    if (this.#reading && !this.#closed) {
      this.#reading = false;
      this.#handle.readStop();
    }
  }

  resume(): void {
    this.#flowing = true;
    if (!this.#readable || this.#reading || this.#closed) {
      return;
    }
    if (!this.#started) {
      this.#begin();
    }
    this.#reading = true;
    const error = this.#handle.readStart();
    if (error !== 0) {
      this.#failed(error, 'read');
    }
  }

  #begin(): void {
    this.#started = true;
    buffer ??= Buffer.allocUnsafeSlow(SEGMENT);
    headBuffer ??= Buffer.allocUnsafeSlow(HEAD_SIZE);
    state ??= this.#node.streamBaseState;
    lengthAt = this.#node.kReadBytesOrError;
    this.#buffer = this.#memory();
    this.#handle.useUserBuffer(this.#buffer);
    this.#handle.onread = onRead;
  }

  // ---------------------------------------------------------------- sending

  get pending(): boolean {
    return this.#waiting > 0;
  }

  get blocked(): boolean {
    return this.pending;
  }

  get flushed(): boolean {
    return this.#waiting === 0 && (this.#corked === null || this.#corked.length === 0);
  }

  get unsent(): number {
    return this.#closed ? this.#left : this.#handle.writeQueueSize;
  }

  /** Notes what was never sent: afterwards libuv does not know it. */
  #noteUnsent(): void {
    // What libuv had is gone when it tells of an error.
    this.#left = this.#waiting > 0 ? this.#handle.writeQueueSize : this.#left;
  }

  /** `bytes` came too late to be sent. */
  #dropped(bytes: number): true {
    this.#left += bytes;
    return true;
  }

  write(data: string | Buffer): boolean {
    if (this.#closed || this.#broken) {
      return this.#dropped(data.length);
    }
    if (this.#corked !== null) {
      this.#corked.push(data, typeof data === 'string' ? 'latin1' : 'buffer');
      return true;
    }
    const handle = this.#handle;
    const request = writeRequest(this.#node);
    return this.#written(typeof data === 'string' ? handle.writeLatin1String(request, data) : handle.writeBuffer(request, data), data);
  }

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    if (this.#corked !== null) {
      this.write(before);
      return this.write(bytes) && this.write(after);
    }
    if (before.length + bytes.length + after.length <= JOIN_LIMIT) {
      return this.#writeCopy(before, bytes, 0, bytes.length, after);
    }
    const pieces = [before, 'latin1', bytes, 'buffer'];
    if (after !== '') {
      pieces.push(after, 'latin1');
    }
    return this.#writePieces(pieces, before.length + bytes.length + after.length);
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    if (this.#corked !== null || before.length + end - start + after.length > JOIN_LIMIT) {
      return writeMuchLent(this, before, bytes.subarray(start, end), after);
    }
    return this.#writeCopy(before, bytes, start, end, after);
  }

  /** Sends pieces and their encodings, in turns, with one call. */
  #writePieces(pieces: readonly (string | Buffer)[], length: number): boolean {
    if (this.#closed || this.#broken) {
      return this.#dropped(length);
    }
    return this.#written(this.#handle.writev(writeRequest(this.#node), pieces, false), pieces);
  }

  /** Sends text, the bytes `start..end` and text, which are put together: not more than JOIN_LIMIT. */
  #writeCopy(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    if (this.#closed || this.#broken) {
      return this.#dropped(before.length + end - start + after.length);
    }
    const whole = joined(before, bytes, start, end, after);
    if (this.#written(this.#handle.writeBuffer(writeRequest(this.#node), whole), whole)) {
      return true;
    }
    keepJoined();
    return false;
  }

  #written(error: number, data: unknown): boolean {
    if (error !== 0) {
      this.#failed(error, 'write');
      return true;
    }
    if (this.#node.streamBaseState[this.#node.kLastWriteWasAsync] === 0) {
      return true;
    }
    const request = keepRequest();
    request.oncomplete = (status) => this.#done(status);
    request.data = data;
    this.#waiting++;
    this.#left = this.#handle.writeQueueSize;
    return false;
  }

  #done(status: number): void {
    this.#waiting--;
    if (this.#closed) {
      return;
    }
    if (status < 0) {
      this.#failed(status, 'write');
    } else if (this.#waiting === 0) {
      this.#left = 0;
      if (this.#closing) {
        this.close();
      } else {
        this.#tellDrained();
      }
    }
  }

  #tellDrained(): void {
    this.#tells = false;
    this.#owner?.socketDrained();
  }

  get offerLimit(): number {
    return Number.POSITIVE_INFINITY;
  }

  offer(bytes: Buffer): number {
    const { fd } = this.#handle;
    if (this.#closed || this.#broken || this.#waiting > 0 || this.#corked !== null || fd === undefined || fd < 0) {
      return 0;
    }
    try {
      return writeSync(fd, bytes, 0, bytes.length);
    } catch (error) {
      const { code, errno } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN') {
        this.#failed(errno!, 'write');
      }
      return 0;
    }
  }

  cork(): void {
    if (this.#corks++ === 0) {
      this.#corked = [];
    }
  }

  uncork(): void {
    if (this.#corks > 0 && --this.#corks === 0) {
      this.#sendCorked();
    }
  }

  #sendCorked(): void {
    const pieces = this.#corked as (string | Buffer)[];
    this.#corked = null;
    if (pieces.length === 2) {
      this.write(pieces[0]!);
    } else if (pieces.length > 2) {
      this.#writePieces(pieces, 0);
    }
  }

  awaitFlush(): void {
    this.#tells = true;
    if (this.#waiting === 0) {
      setImmediate(tellFlushed, this);
    }
  }

  /** Tells the owner, unless it was told or something else was written. */
  tellFlushed(): void {
    if (this.#tells && !this.#closed && this.#waiting === 0) {
      this.#tellDrained();
    }
  }

  // ---------------------------------------------------------------- the end

  /** A call of the system said this negated error number. */
  #failed(errno: number, syscall: 'read' | 'write' | 'shutdown'): void {
    if (this.#outward) {
      this.#fail(systemError(errno, syscall));
      return;
    }
    if (syscall === 'read') {
      this.#owner?.socketFailed?.(systemError(errno, syscall));
    }
    this.close();
  }

  /** A backend's owner is told after the call that found it out. */
  #fail(error: Error): void {
    if (!this.#broken) {
      this.#broken = true;
      process.nextTick(tellFailure, this, error);
    }
  }

  /** Tells the owner, unless that has closed it in the meantime. */
  tellFailure(error: Error): void {
    if (!this.#closed) {
      this.close();
      this.#owner!.socketFailed?.(error);
    }
  }

  end(): void {
    if (this.#corked !== null) {
      this.#corks = 0;
      this.#sendCorked();
    }
    if (this.#closed) {
      return;
    }
    const request = new this.#node.ShutdownWrap();
    request.oncomplete = ignore;
    const error = this.#handle.shutdown(request);
    if (error < 0) {
      this.#failed(error, 'shutdown');
    }
  }

  close(): void {
    if (!this.#closed) {
      this.#noteUnsent();
      this.#closed = true;
      // Where nobody wants to know, libuv need not call.
      this.#handle.close(this.#outward ? undefined : () => this.#gone());
    }
  }

  #gone(): void {
    this.#owner?.socketClosed?.();
  }

  closeSoon(): void {
    if (this.#waiting === 0) {
      this.close();
    } else if (!this.#closing) {
      this.#closing = true;
      setTimer(close, LAST_BYTES, this).unref();
    }
  }

  // A write that returned true is in the kernel.
  leave(): void {
    this.close();
  }

  reset(): void {
    if (this.#closed) {
      return;
    }
    this.#noteUnsent();
    // A connection that was ended already, or is none of TCP, cannot be reset.
    if (this.#handle.reset === undefined || this.#handle.reset(() => this.#gone()) !== 0) {
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

const tellFailure = (socket: HandleSocket, error: Error): void => socket.tellFailure(error);
const tellFlushed = (socket: HandleSocket): void => socket.tellFlushed();
const close = (socket: HandleSocket): void => socket.close();
const ignore = (): void => {};
