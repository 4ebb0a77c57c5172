const table = new Int32Array(256);
for (let i = 0; i < 256; i++) {
  let c = i;
  for (let bit = 0; bit < 8; bit++) {
    c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1;
  }
  table[i] = c;
}

/** Returns the CRC-32C (Castagnoli) of some bytes, from 0 to 2^32 - 1 (nginx: ngx_crc32c_long). */
export function crc32c(bytes: Uint8Array): number {
  let c = -1;
  for (let i = 0; i < bytes.length; i++) {
    c = table[(c ^ bytes[i]!) & 0xff]! ^ (c >>> 8);
  }
  return (c ^ -1) >>> 0;
}
