import { crcTable } from './crc-table.js';

const table = crcTable(0xedb88320);

/** The state of an empty CRC-32 that update() continues and finish() ends (nginx: ngx_crc32_init). */
export const crc32Start = -1;

/** Takes the bytes of a latin1 string into a running CRC-32 (nginx: ngx_crc32_update). */
export function crc32Update(state: number, bytes: string): number {
  let c = state;
  for (let i = 0; i < bytes.length; i++) {
    c = table[(c ^ bytes.charCodeAt(i)) & 0xff]! ^ (c >>> 8);
  }
  return c;
}

/** Returns the checksum of what was taken in, from 0 to 2^32 - 1 (nginx: ngx_crc32_final). */
export function crc32Finish(state: number): number {
  return (state ^ -1) >>> 0;
}

/** Returns the CRC-32 of a latin1 string, from 0 to 2^32 - 1 (nginx: ngx_crc32_short and ngx_crc32_long). */
export function crc32(bytes: string): number {
  return crc32Finish(crc32Update(crc32Start, bytes));
}
