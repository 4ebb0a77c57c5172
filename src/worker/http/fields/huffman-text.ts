import { Buffer } from 'node:buffer';
import { latin1 } from '../../bytes/latin1.js';
import { decodeHuffman } from './huffman-decode.js';

// What texts in Huffman code are decoded into.
let scratch = Buffer.allocUnsafeSlow(1024);

/** The text that the bytes `start..end` are in Huffman code; undefined for what is no such code. */
export function huffmanText(bytes: Uint8Array, start: number, end: number): string | undefined {
  const length = end - start;
  if (scratch.length < length * 2) {
    scratch = Buffer.allocUnsafeSlow(length * 4);
  }
  const made = decodeHuffman(bytes, start, end, scratch);
  return made < 0 ? undefined : latin1(scratch, 0, made);
}
