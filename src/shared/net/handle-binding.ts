// What libuv's streams look like from inside Node, which has no public way to them: the handle below a `net.Socket`, and the requests that
// its writes take.

/** A connection's handle, as far as it is used here. */
export interface ByteHandle {
  /** The socket's descriptor; of TLS, there is none. */
  readonly fd?: number;
  writeLatin1String(request: WriteRequest, text: string): number;
  writeBuffer(request: WriteRequest, bytes: Buffer): number;
  /** Pieces and their encodings in turns; `buffer` for bytes. */
  writev(request: WriteRequest, pieces: readonly (string | Buffer)[], allBuffers: false): number;
  /** Of TLS: the connection below. */
  readonly _parent?: { readonly writeQueueSize: number };
  /** How many bytes the kernel has not taken yet; absent from a cipher that does not say. */
  readonly writeQueueSize?: number;
}

/** One write, or one shutdown. */
export interface WriteRequest {
  oncomplete?: ((status: number) => void) | undefined;
  /** Keeps memory alive that libuv still sends from. */
  data?: unknown;
  /** A number, which is {@link OVER} once the write is over. */
  getAsyncId(): number;
}

/** What a write's native object, which is no more, has for a number. */
export const OVER = -1;

export interface HandleBinding {
  readonly WriteWrap: new () => WriteRequest;
  readonly ShutdownWrap: new () => WriteRequest;
  readonly streamBaseState: Int32Array;
  readonly kReadBytesOrError: number;
  readonly kLastWriteWasAsync: number;
}

let loaded: HandleBinding | undefined;

/** The binding. Throws an Error where this Node has it no more. */
export function handleBinding(): HandleBinding {
  loaded ??= find();
  return loaded;
}

/** A room inside Node, which has no other way to it. Throws an Error that names what is in it where there is no way any more. */
export function nodeBinding<T>(name: string, what: string): T {
  try {
    return (process as unknown as { binding(name: string): T }).binding(name);
  } catch (error) {
    throw new Error(`this Node does not let its ${what} be used: ${(error as Error).message}`);
  }
}

function find(): HandleBinding {
  const found = nodeBinding<Partial<HandleBinding>>('stream_wrap', 'handles');
  const whole =
    found.WriteWrap !== undefined &&
    found.ShutdownWrap !== undefined &&
    found.streamBaseState !== undefined &&
    found.kReadBytesOrError !== undefined &&
    found.kLastWriteWasAsync !== undefined;
  if (!whole) {
    throw new Error('this Node does not let its handles be used');
  }
  return found as HandleBinding;
}

/** A write that the kernel took at once has left no trace in its request, so that the next one can have it. */
let spare: WriteRequest | undefined;

/** A request for the next write: the same for all until one of them has to wait. */
export function writeRequest(node: HandleBinding): WriteRequest {
  spare ??= new node.WriteWrap();
  return spare;
}

/** The request given last is in use: its write was not taken at once. */
export function keepRequest(): WriteRequest {
  const request = spare as WriteRequest;
  spare = undefined;
  return request;
}
