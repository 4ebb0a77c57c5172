import { codeLengths, codes } from './huffman-code.js';

/** How many bytes a text (latin1) takes in Huffman code. */
export function huffmanLength(text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    bits += codeLengths[text.charCodeAt(i) & 0xff]!;
  }
  return (bits + 7) >> 3;
}

/** Puts a text (latin1) in Huffman code at `at`, where there is room. Returns the place behind it. */
export function encodeHuffman(text: string, into: Uint8Array, at: number): number {
  let held = 0;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i) & 0xff;
    let length = codeLengths[symbol]!;
    const code = codes[symbol]!;
    // At most seven bits are held: together with a word of 30 they would not fit into 32.
    if (length > 24) {
      length -= 8;
      held = (held << 8) | (code >>> length);
      into[at++] = (held >>> count) & 0xff;
    }
    held = (held << length) | (code & ((1 << length) - 1));
    count += length;
    while (count >= 8) {
      count -= 8;
      into[at++] = (held >>> count) & 0xff;
    }
    held &= (1 << count) - 1;
  }
  // The end's word begins with ones.
  if (count > 0) {
    into[at++] = ((held << (8 - count)) | (0xff >> count)) & 0xff;
  }
  return at;
}
