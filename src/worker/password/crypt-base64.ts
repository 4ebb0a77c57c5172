/** The alphabet of crypt(3) for the hashes of the MD5 and SHA families, least significant digit first. */
const alphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Writes the low `digits` times six bits of a number. */
export function toCrypt64(value: number, digits: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < digits; i++) {
    text += alphabet.charAt(rest & 63);
    rest >>>= 6;
  }
  return text;
}

/** Returns the value of one digit, or -1. */
export function fromCrypt64(digit: string): number {
  return digit === '' ? -1 : alphabet.indexOf(digit);
}
