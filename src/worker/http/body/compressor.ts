import { constants, createBrotliCompress, createGunzip, createGzip } from 'node:zlib';
import { EMPTY } from '../../../shared/lib/empty.js';

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

/** What follows a piece: more, a point up to which everything must come out, or the end. */
export type Ending = 'more' | 'flush' | 'end';

/** The parts of a stream of node:zlib that run one piece at once. Its own synchronous functions end the stream after one piece. */
interface SyncStream {
  _handle: {
    writeSync(flush: number, input: Buffer, at: number, size: number, output: Buffer, outputAt: number, room: number): void;
    onerror: (message: string) => void;
    /** Makes the handle as new. That of brotli loses its parameters and most of its memory. */
    reset(): void;
    /** Of brotli: makes the handle as new, with these parameters. */
    init(params: Uint32Array, state: Uint32Array, written: () => void): void;
  };
  /** After each call: the room left in the output, and the input left. */
  readonly _writeState: Uint32Array;
  close(): void;
}

type Flushes = { readonly [ending in Ending]: number };

const DEFLATE: Flushes = { more: constants.Z_NO_FLUSH, flush: constants.Z_SYNC_FLUSH, end: constants.Z_FINISH };
const BROTLI: Flushes = {
  more: constants.BROTLI_OPERATION_PROCESS,
  flush: constants.BROTLI_OPERATION_FLUSH,
  end: constants.BROTLI_OPERATION_FINISH,
};

/** Room for output that is taken at a time, and the memory that it is taken from, one piece behind the other. */
const ROOM = 16 * 1024;
const SLAB = 4 * ROOM;

let slab = EMPTY;
let slabUsed = 0;

/** A stream of node:zlib that serves one body after another: to make a new one costs as much as to compress a page of 10 KB. */
class KeptStream implements Transform {
  readonly stream: SyncStream;
  /** Bodies with the same key are worked on alike. */
  readonly key: number;
  pending = false;
  used = 0;
  readonly #flushes: Flushes;
  #failure: string | undefined = undefined;

  constructor(stream: SyncStream, key: number, flushes: Flushes) {
    this.stream = stream;
    this.key = key;
    this.#flushes = flushes;
    stream._handle.onerror = (message) => {
      this.#failure = message;
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
        throw new Error(this.#failure);
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
  stream.stream._handle.reset();
  if (idle.length >= MOST_IDLE) {
    idle.shift()!.stream.close();
  }
  idle.push(stream);
}

function take(key: number): KeptStream | undefined {
  for (let i = idle.length - 1; i >= 0; i--) {
    if (idle[i]!.key === key) {
      return idle.splice(i, 1)[0];
    }
  }
  return undefined;
}

// Keys: what gzip can be told is below 2^16.
const GUNZIP_KEY = 1 << 16;
const BROTLI_KEY = 2 << 16;

/** Compresses to gzip. */
export function gzip(level: number, windowBits: number, memLevel: number): Transform {
  const key = (level << 8) | (windowBits << 4) | memLevel;
  return take(key) ?? new KeptStream(createGzip({ level, windowBits, memLevel }) as unknown as SyncStream, key, DEFLATE);
}

/** Takes gzip off. */
export const gunzip = (): Transform => take(GUNZIP_KEY) ?? new KeptStream(createGunzip() as unknown as SyncStream, GUNZIP_KEY, DEFLATE);

/** Parameters of brotli by their numbers; one that is all ones has its default. */
const brotliParams = new Uint32Array(constants.BROTLI_PARAM_SIZE_HINT + 1).fill(-1);

/** Compresses to brotli. `sizeHint` is the body's length, 0 when it is unknown. */
export function brotli(quality: number, windowBits: number, sizeHint: number): Transform {
  const kept = take(BROTLI_KEY);
  if (kept === undefined) {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_LGWIN]: windowBits,
      [constants.BROTLI_PARAM_SIZE_HINT]: sizeHint,
    };
    return new KeptStream(createBrotliCompress({ params }) as unknown as SyncStream, BROTLI_KEY, BROTLI);
  }
  brotliParams[constants.BROTLI_PARAM_QUALITY] = quality;
  brotliParams[constants.BROTLI_PARAM_LGWIN] = windowBits;
  brotliParams[constants.BROTLI_PARAM_SIZE_HINT] = sizeHint;
  kept.stream._handle.init(brotliParams, kept.stream._writeState, writtenLater);
  return kept;
}

// Called for writes that are not synchronous, which there are none of.
function writtenLater(): void {}
