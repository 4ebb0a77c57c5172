import { constants, createBrotliCompress, createGunzip, createGzip } from 'node:zlib';

/** A compressor or decompressor that works synchronously, piece by piece. */
export interface Transform {
  /** Takes a piece; returns what comes out, perhaps nothing. */
  write(chunk: Buffer, end: Ending): Buffer;
  close(): void;
}

/** What follows a piece: more, a point up to which everything must come out, or the end. */
export type Ending = 'more' | 'flush' | 'end';

/** The parts of a stream of node:zlib that run one piece at once. Its own synchronous functions end the stream after one piece. */
interface SyncStream {
  _handle: {
    writeSync(flush: number, input: Buffer, at: number, size: number, output: Buffer, outputAt: number, room: number): void;
    onerror: (message: string) => void;
  };
  /** After each call: the room left in the output, and the input left. */
  readonly _writeState: Uint32Array;
  close(): void;
}

/** Room for output that is taken at a time. */
const ROOM = 16 * 1024;

function transform(stream: SyncStream, flushes: { readonly [ending in Ending]: number }): Transform {
  const handle = stream._handle;
  const state = stream._writeState;
  let failure: string | undefined;
  // Most small pieces yield nothing yet.
  let unused: Buffer | undefined;
  handle.onerror = (message) => {
    failure = message;
  };
  return {
    write(chunk, end) {
      const pieces: Buffer[] = [];
      let at = 0;
      for (;;) {
        const output = unused ?? Buffer.allocUnsafe(ROOM);
        unused = undefined;
        const size = chunk.length - at;
        handle.writeSync(flushes[end], chunk, at, size, output, 0, ROOM);
        if (failure !== undefined) {
          throw new Error(failure);
        }
        const room = state[0]!;
        at += size - state[1]!;
        if (room < ROOM) {
          pieces.push(output.subarray(0, ROOM - room));
        } else {
          unused = output;
        }
        if (room > 0) {
          return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
        }
      }
    },
    close: () => stream.close(),
  };
}

const DEFLATE = { more: constants.Z_NO_FLUSH, flush: constants.Z_SYNC_FLUSH, end: constants.Z_FINISH };
const BROTLI = {
  more: constants.BROTLI_OPERATION_PROCESS,
  flush: constants.BROTLI_OPERATION_FLUSH,
  end: constants.BROTLI_OPERATION_FINISH,
};

/** Compresses to gzip. */
export const gzip = (level: number, windowBits: number, memLevel: number): Transform =>
  transform(createGzip({ level, windowBits, memLevel }) as unknown as SyncStream, DEFLATE);

/** Takes gzip off. */
export const gunzip = (): Transform => transform(createGunzip() as unknown as SyncStream, DEFLATE);

/** Compresses to brotli. `sizeHint` is the body's length, 0 when it is unknown. */
export const brotli = (quality: number, windowBits: number, sizeHint: number): Transform =>
  transform(
    createBrotliCompress({
      params: {
        [constants.BROTLI_PARAM_QUALITY]: quality,
        [constants.BROTLI_PARAM_LGWIN]: windowBits,
        [constants.BROTLI_PARAM_SIZE_HINT]: sizeHint,
      },
    }) as unknown as SyncStream,
    BROTLI,
  );
