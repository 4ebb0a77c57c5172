import { EMPTY } from '../../bytes/empty.js';

/**
 * Memory of up to so many bytes is kept for the next film: as much as the index of two hours needs. New memory for each costs more than
 * the cut.
 */
const KEPT = 4 * 1024 * 1024;

let input = EMPTY;
let output = EMPTY;

const grown = (bytes: Buffer, size: number): Buffer => Buffer.alloc(Math.max(size, Math.min(2 * bytes.length, KEPT)));

/** Memory for so many bytes of a file; the next call has the same. */
export function inputMemory(size: number): Buffer {
  if (size > KEPT) {
    return Buffer.alloc(size);
  }
  if (size > input.length) {
    input = grown(input, size);
  }
  return input.subarray(0, size);
}

/** Memory for so many bytes that are made, or more; the next call has the same. */
export function outputMemory(size: number): Buffer {
  if (size > KEPT) {
    return Buffer.alloc(Math.max(size, 2 * KEPT));
  }
  if (size > output.length) {
    output = grown(output, size);
  }
  return output;
}
