import { codeLengths, codes, END_OF_STRING } from './huffman-code.js';

const FAILED = -1;
const EMITS = 0x100;
const ENDS_WELL = 0x200;

/**
 * What four bits do in each state, a place in the tree of code words: the state they lead to in the upper half, below it the byte that they
 * complete, if EMITS is set. ENDS_WELL: a string may end here, since what is left of it is the beginning of the end's word. Made when the
 * first text comes.
 */
let steps: Int32Array | undefined;

function makeSteps(): Int32Array {
  // The tree: two numbers for each inner node, its children; negative ones are symbols.
  const tree: number[] = [0, 0];
  for (let symbol = 0; symbol < codes.length; symbol++) {
    let at = 0;
    for (let bit = codeLengths[symbol]! - 1; bit >= 0; bit--) {
      const slot = at * 2 + ((codes[symbol]! >>> bit) & 1);
      if (bit === 0) {
        tree[slot] = -symbol - 1;
      } else if (tree[slot] === 0) {
        at = tree[slot] = tree.length / 2;
        tree.push(0, 0);
      } else {
        at = tree[slot]!;
      }
    }
  }
  // Padding is at most seven bits, all ones. nginx lets a whole byte of them pass where none is needed, and some clients send it.
  const wellEnded = new Set<number>();
  for (let at = 0, bits = 0; bits <= 8; bits++, at = tree[at * 2 + 1]!) {
    wellEnded.add(at);
  }

  const table = new Int32Array(tree.length * 8);
  for (let state = 0; state < tree.length / 2; state++) {
    for (let nibble = 0; nibble < 16; nibble++) {
      let at = state;
      let emitted = 0;
      for (let bit = 3; bit >= 0 && at !== FAILED; bit--) {
        const child = tree[at * 2 + ((nibble >> bit) & 1)]!;
        if (child >= 0) {
          at = child;
        } else if (-child - 1 === END_OF_STRING) {
          at = FAILED;
        } else {
          emitted = EMITS | (-child - 1);
          at = 0;
        }
      }
      table[state * 16 + nibble] = at === FAILED ? FAILED : (at << 16) | (wellEnded.has(at) ? ENDS_WELL : 0) | emitted;
    }
  }
  return table;
}

/**
 * Decodes the bytes `start..end` into `into`, which has room for eight bytes of every five. Returns how many bytes it made, or -1 for what
 * is no Huffman code: the word of the end, or padding that is too long or not all ones. nginx: ngx_http_huff_decode.
 */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number, into: Uint8Array): number {
  let state = 0;
  let made = 0;
  let step = ENDS_WELL;
  steps ??= makeSteps();
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    step = steps[state * 16 + (byte >> 4)]!;
    if (step < 0) {
      return -1;
    }
    if ((step & EMITS) !== 0) {
      into[made++] = step & 0xff;
    }
    step = steps[(step >> 16) * 16 + (byte & 15)]!;
    if (step < 0) {
      return -1;
    }
    if ((step & EMITS) !== 0) {
      into[made++] = step & 0xff;
    }
    state = step >> 16;
  }
  return (step & ENDS_WELL) !== 0 ? made : -1;
}
