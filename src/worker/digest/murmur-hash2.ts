const factor = 0x5bd1e995;

/** Returns the 32-bit MurmurHash2 of a latin1 string with seed 0, from 0 to 2^32 - 1 (nginx: ngx_murmur_hash2). */
export function murmurHash2(bytes: string): number {
  let left = bytes.length;
  let at = 0;
  let h = left;
  for (; left >= 4; left -= 4, at += 4) {
    let k = bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8) | (bytes.charCodeAt(at + 2) << 16) | (bytes.charCodeAt(at + 3) << 24);
    k = Math.imul(k, factor);
    k = Math.imul(k ^ (k >>> 24), factor);
    h = Math.imul(h, factor) ^ k;
  }
  if (left > 0) {
    if (left === 3) {
      h ^= bytes.charCodeAt(at + 2) << 16;
    }
    if (left >= 2) {
      h ^= bytes.charCodeAt(at + 1) << 8;
    }
    h = Math.imul(h ^ bytes.charCodeAt(at), factor);
  }
  h = Math.imul(h ^ (h >>> 13), factor);
  return (h ^ (h >>> 15)) >>> 0;
}
