import { crcTable } from './crc-table.js';

const table = crcTable(0x82f63b78);

/** Returns the CRC-32C (Castagnoli) of some bytes, from 0 to 2^32 - 1 (nginx: ngx_crc32c_long). */
export function crc32c(bytes: Uint8Array): number {
  let c = -1;
  for (let i = 0; i < bytes.length; i++) {
    c = table[(c ^ bytes[i]!) & 0xff]! ^ (c >>> 8);
  }
  return (c ^ -1) >>> 0;
}
