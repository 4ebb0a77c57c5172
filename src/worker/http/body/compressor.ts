import { constants, createBrotliCompress, createGunzip, createGzip } from 'node:zlib';
import { type Flushes, KeptStream, type SyncStream, type Transform, take, writtenLater } from './kept-stream.js';

const DEFLATE: Flushes = { more: constants.Z_NO_FLUSH, flush: constants.Z_SYNC_FLUSH, end: constants.Z_FINISH };
const BROTLI: Flushes = {
  more: constants.BROTLI_OPERATION_PROCESS,
  flush: constants.BROTLI_OPERATION_FLUSH,
  end: constants.BROTLI_OPERATION_FINISH,
};

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
