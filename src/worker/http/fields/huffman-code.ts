/**
 * How many bits the code of each byte has, in base 36; the last is that of the end of a string. The code is canonical: its words are in the
 * order of their lengths, and of the bytes among those of one length (RFC 7541, appendix B).
 */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6f56565666577666567655677' +
  '777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqn' +
  'qrqqrrrrrsrrrrrqu';

const MOST_BITS = 30;

/** The number of the symbol that ends a string; only its first bits occur, as padding. */
export const END_OF_STRING = 256;

/** Bits of the code of each byte. */
export const codeLengths: Uint8Array = Uint8Array.from(LENGTHS, (digit) => Number.parseInt(digit, 36));

/** The code words of the bytes and of the end, their last bit lowest. */
export const codes: Uint32Array = canonicalCodes();

function canonicalCodes(): Uint32Array {
  const counts = new Uint32Array(MOST_BITS + 1);
  for (const length of codeLengths) {
    counts[length]!++;
  }
  /** The next word of each length. */
  const next = new Uint32Array(MOST_BITS + 1);
  for (let length = 1; length <= MOST_BITS; length++) {
    next[length] = (next[length - 1]! + counts[length - 1]!) * 2;
  }
  return Uint32Array.from(codeLengths, (length) => next[length]!++);
}
