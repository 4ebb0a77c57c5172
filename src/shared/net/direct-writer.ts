// Writes past node:stream's machinery, straight to libuv's handle: a response that the kernel takes at once, as nearly
// all do, needs no queue, no callback and no tick. Node has no public way to do that.
import type { Socket } from 'node:net';

interface Handle {
  writeLatin1String(request: WriteRequest, text: string): number;
  writeBuffer(request: WriteRequest, bytes: Buffer): number;
}

interface WriteRequest {
  handle?: Handle;
  oncomplete?: ((status: number) => void) | undefined;
}

interface StreamBinding {
  readonly WriteWrap: new () => WriteRequest;
  readonly streamBaseState: Int32Array;
  readonly kLastWriteWasAsync: number;
}

let loaded: StreamBinding | null | undefined;

/** The binding, or null where this Node has it no more. */
function binding(): StreamBinding | null {
  if (loaded === undefined) {
    try {
      const found = (process as unknown as { binding(name: string): Partial<StreamBinding> }).binding('stream_wrap');
      loaded =
        found.WriteWrap !== undefined && found.streamBaseState !== undefined && found.kLastWriteWasAsync !== undefined
          ? (found as StreamBinding)
          : null;
    } catch {
      loaded = null;
    }
  }
  return loaded;
}

/** What a write came to. */
export const WRITTEN = 0;
/** The kernel took a part; the rest follows, and then `flushed` is called. */
export const PENDING = 1;
/** Not possible now: use the socket's own `write`. */
export const REFUSED = 2;

/** Writes to one plain socket. While a write is pending, further ones are refused. */
export class DirectWriter {
  readonly #socket: Socket;
  readonly #flushed: () => void;
  #pending = false;

  /** `flushed` is called when a pending write is done. */
  constructor(socket: Socket, flushed: () => void) {
    this.#socket = socket;
    this.#flushed = flushed;
  }

  /** A write is on its way that the kernel could not take at once. */
  get pending(): boolean {
    return this.#pending;
  }

  /** Writes text (latin1) or bytes. */
  write(data: string | Buffer): number {
    const node = binding();
    const handle = (this.#socket as unknown as { _handle: Handle | null })._handle;
    if (node === null || handle === null || this.#pending || this.#socket.writableLength > 0) return REFUSED;
    const request = new node.WriteWrap();
    request.handle = handle;
    request.oncomplete = this.#done;
    const error = typeof data === 'string' ? handle.writeLatin1String(request, data) : handle.writeBuffer(request, data);
    if (error !== 0) {
      this.#socket.destroy();
      return WRITTEN;
    }
    if (node.streamBaseState[node.kLastWriteWasAsync] === 0) return WRITTEN;
    this.#pending = true;
    return PENDING;
  }

  readonly #done = (status: number): void => {
    this.#pending = false;
    if (status < 0) this.#socket.destroy();
    else this.#flushed();
  };
}
