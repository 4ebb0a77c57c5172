import { floatsOf } from './row-bytes.js';

/** How often each status of HTTP was seen. */
export type Codes = Map<number, number>;

/** Greater statuses are not counted one by one. */
export const CODES_END = 600;

/** Encodes a list that has the number of each status at its place. */
export function encodeCounted(counts: Float64Array): Uint8Array {
  const pairs: number[] = [];
  for (let code = 0; code < counts.length; code++) {
    if (counts[code] !== 0) {
      pairs.push(code, counts[code]!);
    }
  }
  return new Uint8Array(new Float64Array(pairs).buffer);
}

/** As the rows of meters have it: status and number by turns. */
export function encodeCodes(codes: Codes): Uint8Array {
  const pairs = new Float64Array(codes.size * 2);
  let at = 0;
  for (const [code, n] of codes) {
    pairs[at++] = code;
    pairs[at++] = n;
  }
  return new Uint8Array(pairs.buffer);
}

export function decodeCodes(bytes: Uint8Array | null): Codes {
  const codes: Codes = new Map();
  if (bytes !== null) {
    const pairs = floatsOf(bytes);
    for (let i = 0; i + 1 < pairs.length; i += 2) {
      codes.set(pairs[i]!, pairs[i + 1]!);
    }
  }
  return codes;
}
