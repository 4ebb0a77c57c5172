/**
 * How many bits the code of each byte has, in base 36; the last is that of the end of a string. The code is canonical: its words are in the
 * order of their lengths, and of the bytes among those of one length (RFC 7541, appendix B).
 */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6f56565666577666567655677' +
  '777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqn' +
  'qrqqrrrrrsrrrrrqu';

/** The number of the symbol that ends a string; only its first bits occur, as padding. */
export const END_OF_STRING = 256;

/** Bits of the code of each byte. */
export const codeLengths: Uint8Array = Uint8Array.from(LENGTHS, (digit) => Number.parseInt(digit, 36));

/** The code words of the bytes and of the end, their last bit lowest. */
export const codes: Uint32Array = canonicalCodes();

function canonicalCodes(): Uint32Array {
  const words = new Uint32Array(codeLengths.length);
  const symbols = [...codeLengths.keys()].sort((a, b) => codeLengths[a]! - codeLengths[b]! || a - b);
  let next = 0;
  let length = codeLengths[symbols[0]!]!;
  for (const symbol of symbols) {
    next *= 2 ** (codeLengths[symbol]! - length);
    length = codeLengths[symbol]!;
    words[symbol] = next++;
  }
  return words;
}
