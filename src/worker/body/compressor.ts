import { constants, createBrotliCompress, createGunzip, createGzip } from 'node:zlib';

/** A compressor or decompressor that works synchronously, piece by piece. */
export interface Transform {
  /** Takes a piece; returns what comes out, perhaps nothing. */
  write(chunk: Buffer, end: Ending): Buffer;
  close(): void;
}

/** What follows a piece: more, a point up to which everything must come out, or the end. */
export type Ending = 'more' | 'flush' | 'end';

interface SyncStream {
  /** What node:zlib's own synchronous functions use: runs one piece through the stream at once. */
  _processChunk(chunk: Buffer, flush: number): Buffer;
  close(): void;
  on(event: 'error', listener: () => void): void;
}

function transform(stream: SyncStream, flushes: { readonly [ending in Ending]: number }): Transform {
  stream.on('error', () => {});
  return { write: (chunk, end) => stream._processChunk(chunk, flushes[end]), close: () => stream.close() };
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
