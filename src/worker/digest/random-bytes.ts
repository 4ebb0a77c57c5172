import { randomFillSync } from 'node:crypto';

// Random bytes are fetched in bulk, which is much cheaper than one small request at a time.
const SIZE = 4096;
let pool: Buffer | undefined;
let used = SIZE;

/** `bytes` random bytes, 4096 at most. Their memory is used again: they are for the call at hand. */
export function randomPiece(bytes: number): Buffer {
  pool ??= Buffer.allocUnsafeSlow(SIZE);
  if (used + bytes > SIZE) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}
