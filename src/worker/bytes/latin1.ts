import type { Buffer } from 'node:buffer';

interface Sliceable {
  latin1Slice(start: number, end: number): string;
}

/**
 * The bytes `start..end` of `buffer` as a latin1 string, one character a byte. It is `toString('latin1')` without the look-up of the
 * encoding's name, which is a noticeable share of parsing one request head. The range must lie within the buffer.
 */
export function latin1(buffer: Buffer, start: number, end: number): string {
  return (buffer as unknown as Sliceable).latin1Slice(start, end);
}
