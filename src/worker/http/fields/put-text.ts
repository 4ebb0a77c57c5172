import { encodeHuffman, huffmanLength } from './huffman-encode.js';

/** Puts a number behind the upper `bits` of its first byte (RFC 7541, 5.1). Returns the place behind it. */
export function putNumber(into: Buffer, at: number, bits: number, prefix: number, value: number): number {
  if (value < prefix) {
    into[at] = bits | value;
    return at + 1;
  }
  into[at++] = bits | prefix;
  let rest = value - prefix;
  // Shifts are good for 31 bits only: identifiers of streams may be longer.
  while (rest >= 0x8000_0000) {
    into[at++] = 0x80 | (rest % 0x80);
    rest = Math.floor(rest / 0x80);
  }
  while (rest >= 0x80) {
    into[at++] = 0x80 | (rest & 0x7f);
    rest >>>= 7;
  }
  into[at] = rest;
  return at + 1;
}

interface Latin1Writable {
  latin1Write(text: string, offset: number, length: number): number;
}

/**
 * Puts a text (latin1) behind its length, in Huffman code if that is shorter. The upper `bits` of the first byte are given; the bit above
 * `prefix` says that the text is in Huffman code.
 */
export function putText(into: Buffer, at: number, bits: number, prefix: number, text: string): number {
  const coded = huffmanLength(text);
  if (coded < text.length) {
    return encodeHuffman(text, into, putNumber(into, at, bits | (prefix + 1), prefix, coded));
  }
  const start = putNumber(into, at, bits, prefix, text.length);
  (into as unknown as Latin1Writable).latin1Write(text, start, text.length);
  return start + text.length;
}
