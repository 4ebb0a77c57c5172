// node:zlib's zstd, which Node has since 22.15 and which is therefore not imported by name.
import zlib from 'node:zlib';
import { EMPTY } from '../../bytes/empty.js';
import { type Ending, KeptStream, type SyncStream, type Transform, take, writtenLater } from './kept-stream.js';

/** A dictionary, which clients must have, too. */
export interface ZstdDictionary {
  readonly bytes: Buffer;
  /** Tells a dictionary from others. */
  readonly digest: string;
}

const { constants } = zlib;
const supported = typeof zlib.createZstdCompress === 'function';
/** Whether this Node has zstd. */
export const hasZstd = (): boolean => supported;

/** The bounds of levels; 0 is none. zstd: ZSTD_minCLevel, ZSTD_maxCLevel. */
export const ZSTD_LEVELS = { min: -131072, max: 22 } as const;
/** Bits of the largest window that the coding may have (RFC 9659), which the levels above would exceed. */
const LARGEST_WINDOW = 23;
const LARGE_LEVELS = 20;

const FLUSHES = supported
  ? { more: constants.ZSTD_e_continue, flush: constants.ZSTD_e_flush, end: constants.ZSTD_e_end }
  : { more: 0, flush: 0, end: 0 };
const ZSTD_KEY = 3 << 16;

/** Parameters by their numbers; one that is all ones has its default. */
const params = supported ? new Uint32Array(constants.ZSTD_c_overlapLog + 1).fill(-1) : new Uint32Array(0);

/** A block holds so many bytes of input, at most. */
const BLOCK = 128 * 1024;
/** What may still come once all but the last block of input is worked on: that block and one that waits for more, with their heads. */
const LAST_ROOM = 2 * BLOCK + 4096;
let lastRoom = EMPTY;

/** What a handle's `init` takes here: parameters, the length if that is known, where it tells the rest, and a dictionary. */
interface ZstdHandle {
  init(params: Uint32Array, length: number | undefined, state: Uint32Array, written: () => void, dictionary?: Buffer): void;
}

class ZstdStream extends KeptStream {
  /**
   * Once a frame is over, asking for its end again makes another one; so there is always room for all that is left. A body that comes
   * in one piece tells its length this way, and the client needs less memory for it.
   */
  override write(chunk: Buffer, end: Ending, limit?: number): Buffer {
    if (end !== 'end') {
      return super.write(chunk, end, limit);
    }
    const before = chunk.length > BLOCK ? super.write(chunk.subarray(0, -BLOCK), 'more') : EMPTY;
    const last = chunk.length > BLOCK ? chunk.subarray(-BLOCK) : chunk;
    if (lastRoom.length === 0) {
      lastRoom = Buffer.allocUnsafeSlow(LAST_ROOM);
    }
    const length = this.writeOnce(last, 'end', lastRoom);
    this.pending = false;
    this.used = chunk.length;
    return Buffer.concat([before, lastRoom.subarray(0, length)]);
  }

  /** Gives the memory of large levels back, and has new parameters. `reset` does not everywhere. */
  override rest(): void {
    params.fill(-1);
    this.init(undefined);
  }

  init(dictionary: Buffer | undefined): void {
    const { stream } = this;
    const args = [params, undefined, stream._writeState, writtenLater] as const;
    const handle = stream._handle as unknown as ZstdHandle;
    if (dictionary === undefined) {
      handle.init(...args);
    } else {
      handle.init(...args, dictionary);
    }
  }
}

/** Compresses to zstd. Throws an Error when the dictionary is none. */
export function zstd(level: number, dictionary?: ZstdDictionary | null): Transform {
  const kept = take(ZSTD_KEY) as ZstdStream | undefined;
  const stream = kept ?? new ZstdStream(zlib.createZstdCompress() as unknown as SyncStream, ZSTD_KEY, FLUSHES);
  params.fill(-1);
  params[constants.ZSTD_c_compressionLevel] = level;
  if (level >= LARGE_LEVELS) {
    params[constants.ZSTD_c_windowLog] = LARGEST_WINDOW;
  }
  stream.init(dictionary?.bytes);
  return stream;
}

/** Why bytes cannot be a dictionary here: this Node takes none, or they are broken; undefined when they can. */
export function whyNoDictionary(dictionary: ZstdDictionary): 'no dictionaries' | 'broken' | undefined {
  const plain = compressed(null, dictionary.bytes);
  try {
    return plain.equals(compressed(dictionary, dictionary.bytes)) ? 'no dictionaries' : undefined;
  } catch {
    return 'broken';
  }
}

function compressed(dictionary: ZstdDictionary | null, bytes: Buffer): Buffer {
  const stream = zstd(1, dictionary);
  const out = stream.write(bytes.subarray(-BLOCK), 'end');
  stream.close();
  return out;
}
