import { readSync } from 'node:fs';

/**
 * Reads a file from the place `from` on until `into` is full or the file ends: the system may give less at a time. Returns how many
 * bytes came. Throws the system's error.
 */
export function readFull(fd: number, into: Uint8Array, from = 0): number {
  let length = 0;
  while (length < into.length) {
    const count = readSync(fd, into, length, into.length - length, from + length);
    if (count === 0) {
      break;
    }
    length += count;
  }
  return length;
}
