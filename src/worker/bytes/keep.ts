/** Bytes of memory that what is kept shares, and how many of them one thing may have of it. */
const SHARED = 4096;
const MOST = 256;

let memory: Buffer = Buffer.alloc(SHARED);
let used = 0;

/**
 * A copy of a few bytes that stay for as long as a connection does. Node cuts small Buffers from 64 KB at a time, most of which are soon
 * forgotten: one that stays has all of those stay. What stays lies together here.
 */
export function keepBytes(bytes: Uint8Array): Buffer {
  const { length } = bytes;
  if (length > MOST) {
    const own = Buffer.alloc(length);
    own.set(bytes);
    return own;
  }
  if (used + length > SHARED) {
    memory = Buffer.alloc(SHARED);
    used = 0;
  }
  const kept = memory.subarray(used, used + length);
  kept.set(bytes);
  used += length;
  return kept;
}
