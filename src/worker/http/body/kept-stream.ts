import { EMPTY } from '../../bytes/empty.js';

/** A compressor or decompressor of one body, which works synchronously, piece by piece. */
export interface Transform {
  /**
   * Takes a piece; returns what comes out, perhaps nothing. With a limit no more comes out at once, and {@link pending} may be true then.
   * Throws when the input is not what it should be.
   */
  write(chunk: Buffer, end: Ending, limit?: number): Buffer;
  /** More comes out of the last piece: the same call with what it has behind {@link used} gives it. */
  readonly pending: boolean;
  /** How many bytes of the last piece were worked on. */
  readonly used: number;
  /** The body is over, or was given up. Called once. */
  close(): void;
}

/** Why a body cannot be worked on. */
export class TransformError extends Error {
  /** The library's number for it. */
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/** What follows a piece: more, a point up to which everything must come out, or the end. */
export type Ending = 'more' | 'flush' | 'end';

/** The parts of a stream of node:zlib that run one piece at once. Its own synchronous functions end the stream after one piece. */
export interface SyncStream {
  _handle: {
    writeSync(flush: number, input: Buffer, at: number, size: number, output: Buffer, outputAt: number, room: number): void;
    onerror: (message: string, code: number) => void;
    /** Makes the handle as new. That of brotli loses its parameters and most of its memory. */
    reset(): void;
    /** Of brotli: makes the handle as new, with these parameters. */
    init(params: Uint32Array, state: Uint32Array, written: () => void): void;
  };
  /** After each call: the room left in the output, and the input left. */
  readonly _writeState: Uint32Array;
  close(): void;
}

/** What node:zlib is told for each of them. */
export type Flushes = { readonly [ending in Ending]: number };

/** Room for output that is taken at a time, and the memory that it is taken from, one piece behind the other. */
const ROOM = 16 * 1024;
const SLAB = 4 * ROOM;

let slab = EMPTY;
let slabUsed = 0;

/** A stream of node:zlib that serves one body after another: to make a new one costs as much as to compress a page of 10 KB. */
export class KeptStream implements Transform {
  readonly stream: SyncStream;
  /** Bodies with the same key are worked on alike. */
  readonly key: number;
  pending = false;
  used = 0;
  readonly #flushes: Flushes;
  #failure: TransformError | undefined = undefined;

  constructor(stream: SyncStream, key: number, flushes: Flushes) {
    this.stream = stream;
    this.key = key;
    this.#flushes = flushes;
    stream._handle.onerror = (message, code) => {
      this.#failure = new TransformError(message, code);
    };
  }

  write(chunk: Buffer, end: Ending, limit = Number.POSITIVE_INFINITY): Buffer {
    const { _handle: handle, _writeState: state } = this.stream;
    const flush = this.#flushes[end];
    let out = EMPTY;
    let pieces: Buffer[] | undefined;
    let at = 0;
    for (let size = 0; ; ) {
      if (slab.length - slabUsed < ROOM) {
        slab = Buffer.allocUnsafeSlow(SLAB);
        slabUsed = 0;
      }
      const left = chunk.length - at;
      handle.writeSync(flush, chunk, at, left, slab, slabUsed, ROOM);
      if (this.#failure !== undefined) {
        throw this.#failure;
      }
      const room = state[0]!;
      at += left - state[1]!;
      if (room < ROOM) {
        const piece = slab.subarray(slabUsed, slabUsed + ROOM - room);
        slabUsed += piece.length;
        size += piece.length;
        if (out.length === 0) {
          out = piece;
        } else {
          pieces ??= [out];
          pieces.push(piece);
        }
      }
      if (room > 0 || size >= limit) {
        this.pending = room === 0;
        this.used = at;
        return pieces === undefined ? out : Buffer.concat(pieces);
      }
    }
  }

  /** Takes all of a piece; `room` holds all that comes out. Returns how long that is. */
  protected writeOnce(chunk: Buffer, end: Ending, room: Buffer): number {
    const { _handle: handle, _writeState: state } = this.stream;
    handle.writeSync(this.#flushes[end], chunk, 0, chunk.length, room, 0, room.length);
    if (this.#failure === undefined && (state[0] === 0 || state[1] !== 0)) {
      this.#failure = new TransformError('more came out than there is room for', 0);
    }
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
    return room.length - state[0]!;
  }

  /** Makes the stream as new, while it waits for another body. */
  rest(): void {
    this.stream._handle.reset();
  }

  close(): void {
    if (this.#failure === undefined) {
      keep(this);
    } else {
      this.stream.close();
    }
  }
}

/** How many streams wait for another body: one of gzip has up to 256 KB. */
const MOST_IDLE = 8;
/** The latest used is the last. */
const idle: KeptStream[] = [];

function keep(stream: KeptStream): void {
  stream.rest();
  if (idle.length >= MOST_IDLE) {
    idle.shift()!.stream.close();
  }
  idle.push(stream);
}

/** A stream that waits for a body with this key; undefined when there is none. */
export function take(key: number): KeptStream | undefined {
  for (let i = idle.length - 1; i >= 0; i--) {
    if (idle[i]!.key === key) {
      return idle.splice(i, 1)[0];
    }
  }
  return undefined;
}

/** What is called for writes that are not synchronous, which there are none of. */
export function writtenLater(): void {}
