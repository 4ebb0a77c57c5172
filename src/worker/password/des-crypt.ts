import { fromCrypt64, toCrypt64 } from './crypt-base64.js';

// The tables of the Data Encryption Standard (FIPS 46-3): bits are numbered from 1, the most significant first.
const initialPermutation = columns([58, 60, 62, 64, 57, 59, 61, 63]);
const finalPermutation = inverse(initialPermutation);
const expansion = Array.from({ length: 48 }, (_, i) => ((Math.floor(i / 6) * 4 + (i % 6) + 31) % 32) + 1);
const roundPermutation = [
  16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25,
];
const keyChoice1 = [...columns([57, 58, 59]), 60, 52, 44, 36, ...columns([63, 62, 61]), 28, 20, 12, 4];
const keyChoice2 = [
  14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48,
  44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];
const keyShifts = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];
/** The S-boxes, four rows of sixteen hexadecimal digits each. */
const boxes = [
  'e4d12fb83a6c5907 0f74e2d1a6cb9538 41e8d62bfc973a50 fc8249175b3ea06d',
  'f18e6b34972dc05a 3d47f28ec01a69b5 0e7ba4d158c6932f d8a13f42b67c05e9',
  'a09e63f51dc7b428 d709346a285ecbf1 d6498f30b12c5ae7 1ad069874fe3b52c',
  '7de3069a1285bc4f d8b56f03472c1ae9 a690cb7df13e5284 3f06a1d8945bc72e',
  '2c417ab6853fd0e9 eb2c47d150fa3986 421bad78f9c5630e b8c71e2d6f09a453',
  'c1af92680d34e75b af427c9561de0b38 9ef528c3704a1db6 432c95fabe17608d',
  '4b2ef08d3c975a61 d0b7491ae35c2f86 14bdc37eaf680592 6bd814a7950fe23c',
  'd2846fb1a93e50c7 1fd8a374c56b0e92 7b419ce206adf358 21e74a8dfc90356b',
].map((rows) => Uint8Array.from(rows.replaceAll(' ', ''), (digit) => Number.parseInt(digit, 16)));

type Bits = Uint8Array<ArrayBuffer>;

/**
 * Hashes the first eight characters of a password by the traditional DES scheme of crypt(3), with the two salt characters
 * that a stored hash begins with; undefined when they are none. About 1 ms.
 */
export function desCrypt(password: Buffer, stored: string): string | undefined {
  const low = fromCrypt64(stored.charAt(0));
  const high = fromCrypt64(stored.charAt(1));
  if (low < 0 || high < 0) {
    return undefined;
  }
  const keys = roundKeys(password);
  const selection = saltedExpansion(low | (high << 6));
  let block: Bits = new Uint8Array(64);
  for (let i = 0; i < 25; i++) {
    block = encrypt(block, keys, selection);
  }
  let text = stored.slice(0, 2);
  for (let at = 0; at < 64; at += 6) {
    let digit = 0;
    for (let i = 0; i < 6; i++) {
      digit = digit * 2 + (block[at + i] ?? 0);
    }
    text += toCrypt64(digit, 1);
  }
  return text;
}

/** Each salt bit that is set swaps two places, 24 apart, of the expansion. */
function saltedExpansion(salt: number): number[] {
  const selection = [...expansion];
  for (let bit = 0; bit < 12; bit++) {
    if ((salt >> bit) & 1) {
      [selection[bit], selection[bit + 24]] = [selection[bit + 24]!, selection[bit]!];
    }
  }
  return selection;
}

function roundKeys(password: Buffer): Bits[] {
  const key = new Uint8Array(64);
  for (let i = 0; i < Math.min(8, password.length); i++) {
    for (let bit = 0; bit < 7; bit++) {
      key[8 * i + bit] = (password[i]! >> (6 - bit)) & 1;
    }
  }
  const halves = permute(key, keyChoice1);
  let left = halves.slice(0, 28);
  let right = halves.slice(28);
  return keyShifts.map((shift) => {
    left = rotate(left, shift);
    right = rotate(right, shift);
    return permute(Uint8Array.of(...left, ...right), keyChoice2);
  });
}

function encrypt(block: Bits, keys: readonly Bits[], selection: readonly number[]): Bits {
  const bits = permute(block, initialPermutation);
  let left = bits.slice(0, 32);
  let right = bits.slice(32);
  for (const key of keys) {
    const next = round(right, key, selection);
    for (let i = 0; i < 32; i++) {
      next[i]! ^= left[i]!;
    }
    left = right;
    right = next;
  }
  return permute(Uint8Array.of(...right, ...left), finalPermutation);
}

function round(half: Bits, key: Bits, selection: readonly number[]): Bits {
  const mixed = permute(half, selection);
  for (let i = 0; i < 48; i++) {
    mixed[i]! ^= key[i]!;
  }
  const substituted = new Uint8Array(32);
  for (let box = 0; box < 8; box++) {
    const at = 6 * box;
    const row = 2 * mixed[at]! + mixed[at + 5]!;
    const column = 8 * mixed[at + 1]! + 4 * mixed[at + 2]! + 2 * mixed[at + 3]! + mixed[at + 4]!;
    const value = boxes[box]![16 * row + column]!;
    for (let bit = 0; bit < 4; bit++) {
      substituted[4 * box + bit] = (value >> (3 - bit)) & 1;
    }
  }
  return permute(substituted, roundPermutation);
}

function permute(bits: Bits, permutation: readonly number[]): Bits {
  const result = new Uint8Array(permutation.length);
  for (let i = 0; i < permutation.length; i++) {
    result[i] = bits[permutation[i]! - 1]!;
  }
  return result;
}

function rotate(bits: Bits, count: number): Bits {
  return Uint8Array.of(...bits.slice(count), ...bits.slice(0, count));
}

/** Each start followed by the seven numbers that lie 8, 16 ... below it. */
function columns(starts: readonly number[]): number[] {
  return starts.flatMap((start) => Array.from({ length: 8 }, (_, i) => start - 8 * i));
}

function inverse(permutation: readonly number[]): number[] {
  const result: number[] = [];
  permutation.forEach((from, to) => {
    result[from - 1] = to + 1;
  });
  return result;
}
