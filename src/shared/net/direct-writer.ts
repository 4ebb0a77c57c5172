// Writes past node:stream's machinery, straight to libuv's handle: a response that the kernel takes at once, as nearly
// all do, needs no queue, no callback and no tick. Node has no public way to do that.
import { writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { joined, joinedText, keepJoined } from './joined.js';
import { plainLength } from './plain-length.js';
import {
  keepRequest,
  OVER,
  type StreamBinding,
  type StreamHandle,
  streamBinding,
  type WriteRequest,
  writeRequest,
} from './stream-binding.js';

/** What a net.Socket holds inside, as far as it is used here. */
interface Internals {
  readonly _handle: StreamHandle | null;
  readonly _writableState: { readonly length: number; readonly writing: boolean; readonly writelen: number };
}

/** What a write came to. */
export const WRITTEN = 0;
/** The kernel took a part; the rest follows, and then `flushed` is called. */
export const PENDING = 1;
/** Not possible now: use the socket's own `write`. */
export const REFUSED = 2;

/** Up to this size pieces are put together for a plain socket, which costs less than to give them to the kernel one by one. */
export const JOIN_LIMIT = 16 * 1024;
/** The same for a cipher, which makes records of what it gets at once. */
export const CIPHER_LIMIT = 32 * 1024;
/** How much may be offered to a cipher, which takes all of it: a slow client's connection holds as much. */
export const CIPHER_OFFER = 128 * 1024;

/** Node's `net.Socket` lets everything wait while this is set, until it emits `connect`. */
interface Waiting {
  connecting: boolean;
}

/** The error that the socket's own `write` would have made of libuv's number. */
function writeError(errno: number): NodeJS.ErrnoException {
  const code = getSystemErrorName(errno);
  return Object.assign(new Error(`write ${code}`), { errno, code, syscall: 'write' });
}

/** Gives the kernel as much of the bytes as it has room for, and returns how many. Throws node:fs's error when the connection is broken. */
export function offerTo(handle: StreamHandle, bytes: Buffer): number {
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

/** Writes to one socket. While a write is under way, further ones are refused. */
export class DirectWriter {
  readonly #node: StreamBinding | null;
  readonly #socket: Socket;
  /** Writing to a handle that was closed gives an error. */
  readonly #handle: StreamHandle | null;
  readonly #queue: Internals['_writableState'];
  readonly #flushed: () => void;
  readonly #tls: boolean;
  /** The write before, if it did not end at once. */
  #last: WriteRequest | undefined = undefined;
  #pending = false;
  #holding = false;

  /** `flushed` is called when a pending write is done. `tls`: the socket has a cipher for a handle. */
  constructor(socket: Socket, flushed: () => void, tls: boolean) {
    const { _handle, _writableState } = socket as unknown as Internals;
    this.#node = streamBinding();
    this.#socket = socket;
    this.#handle = _handle;
    this.#queue = _writableState;
    this.#flushed = flushed;
    this.#tls = tls;
  }

  /** A write is on its way that the kernel could not take at once. */
  get pending(): boolean {
    return this.#pending;
  }

  /** How many bytes the kernel has not taken, of a cipher's in plain text; what is known of that once the socket is closed. */
  get unsent(): number {
    const below = this.#tls ? this.#handle?._parent?.writeQueueSize : this.#handle?.writeQueueSize;
    const { length, writing, writelen } = this.#queue;
    // Of what the socket is writing, libuv knows how much is left.
    const waiting = length - (writing ? writelen : 0);
    return waiting + (this.#tls ? plainLength(below ?? 0) : (below ?? 0));
  }

  /** Nothing waits for the kernel, neither here nor in the socket's own queue. */
  get empty(): boolean {
    return !this.#pending && this.#queue.length === 0;
  }

  /** A write is under way. A cipher takes no other one until it is over, and Node ends the process if it gets one. */
  #busy(): boolean {
    if (this.#last === undefined) {
      return false;
    }
    if (this.#pending || this.#last.getAsyncId() !== OVER) {
      return true;
    }
    this.#last = undefined;
    return false;
  }

  /** Writes text (latin1) or bytes. */
  write(data: string | Buffer): number {
    const handle = this.#handle;
    const node = this.#node;
    if (node === null || handle === null || this.#busy() || this.#queue.length > 0) {
      this.hold();
      return REFUSED;
    }
    const request = writeRequest(node);
    const error = typeof data === 'string' ? this.#writeText(handle, request, data) : handle.writeBuffer(request, data);
    return this.#written(node, handle, error, data);
  }

  /** How many bytes may be offered at a time. */
  get offerLimit(): number {
    return this.#tls ? CIPHER_OFFER : Number.POSITIVE_INFINITY;
  }

  /**
   * Gives the kernel as much of the bytes as it has room for, and keeps nothing of them: their memory is the caller's again when this
   * returns.
   * Returns how many were taken. A cipher takes all or nothing, and is then perhaps {@link pending}.
   */
  offer(bytes: Buffer): number {
    const handle = this.#handle;
    const node = this.#node;
    if (node === null || handle === null || this.#busy() || this.#queue.length > 0 || this.#socket.destroyed) {
      return 0;
    }
    if (this.#tls) {
      this.#written(node, handle, handle.writeBuffer(writeRequest(node), bytes), null);
      return bytes.length;
    }
    try {
      return offerTo(handle, bytes);
    } catch (error) {
      this.#socket.destroy(error as Error);
      return 0;
    }
  }

  /** Writes text, the bytes `start..end` and text in one go; the bytes are copied when all together are not longer than JOIN_LIMIT. */
  writeJoined(before: string, bytes: Buffer, start: number, end: number, after: string): number {
    const handle = this.#handle;
    const node = this.#node;
    const total = before.length + end - start + after.length;
    if (node === null || handle === null || this.#busy() || this.#queue.length > 0 || (this.#tls && total > CIPHER_LIMIT)) {
      this.hold();
      return REFUSED;
    }
    const request = writeRequest(node);
    if (total > JOIN_LIMIT && !this.#tls) {
      const pieces = [before, 'latin1', bytes.subarray(start, end), 'buffer'];
      if (after !== '') {
        pieces.push(after, 'latin1');
      }
      return this.#written(node, handle, handle.writev(request, pieces, false), pieces);
    }
    const whole = joined(before, bytes, start, end, after);
    const code = this.#written(node, handle, handle.writeBuffer(request, whole), whole);
    // A cipher has taken all of it when the call returns.
    if (code === PENDING && !this.#tls) {
      keepJoined();
    }
    return code;
  }

  // Node copies a text twice for TLS.
  #writeText(handle: StreamHandle, request: WriteRequest, text: string): number {
    if (!this.#tls || text.length > CIPHER_LIMIT) {
      return handle.writeLatin1String(request, text);
    }
    return handle.writeBuffer(request, joinedText(text));
  }

  #written(node: StreamBinding, handle: StreamHandle, error: number, data: unknown): number {
    if (error !== 0) {
      this.#socket.destroy(writeError(error));
      return WRITTEN;
    }
    if (node.streamBaseState[node.kLastWriteWasAsync] === 0) {
      return WRITTEN;
    }
    const request = keepRequest();
    this.#last = request;
    // TLS tells of every write later, those too that the kernel took; nobody has to hear of these.
    if (this.#tls && handle._parent?.writeQueueSize === 0) {
      return WRITTEN;
    }
    request.oncomplete = this.#done;
    request.data = data;
    this.#pending = true;
    return PENDING;
  }

  /** Lets what is given to the socket's own `write` and `end` wait until a write under way here is done. */
  hold(): void {
    if (!this.#tls || this.#holding || !this.#busy()) {
      return;
    }
    this.#holding = true;
    (this.#last as WriteRequest).oncomplete = this.#done;
    (this.#socket as unknown as Waiting).connecting = true;
  }

  readonly #done = (status: number): void => {
    const told = this.#pending;
    this.#last = undefined;
    this.#pending = false;
    if (this.#holding) {
      this.#release();
    }
    if (status < 0) {
      this.#socket.destroy(writeError(status));
    } else if (told) {
      this.#flushed();
    }
  };

  #release(): void {
    const socket = this.#socket;
    this.#holding = false;
    if (socket.destroyed) {
      return;
    }
    (socket as unknown as Waiting).connecting = false;
    socket.emit('connect');
    // While it waited, the socket neither started nor stopped to read.
    if (socket.isPaused()) {
      socket.pause();
    } else {
      socket.resume();
    }
  }
}
