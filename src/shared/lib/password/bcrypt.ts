import { piWords } from './pi-words.js';

/** bcrypt's own base64: no padding, and its digits in this order. */
const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const plaintext = 'OrpheanBeholderScryDoubt';
const settings = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})/;

/** Blowfish's initial state: 18 round keys, then four boxes of 256. Computed on first use. */
let initialState: Uint32Array | undefined;

/**
 * Hashes a password by bcrypt with the cost and salt of a stored hash; `$2a$`, `$2b$` and `$2y$` mean the same here.
 * The time doubles with each unit of cost: about 70 ms at the usual 10. Returns undefined for a malformed setting.
 */
export function bcrypt(password: Buffer, stored: string): string | undefined {
  const setting = settings.exec(stored);
  const cost = Number(setting?.[1]);
  if (setting === null || cost < 4 || cost > 31) {
    return undefined;
  }
  const salt = words(decode(setting[2]!));
  const key = cyclicWords(password);
  initialState ??= piWords(18 + 4 * 256);
  const cipher = new Blowfish(initialState);
  cipher.expand(key, salt);
  for (let left = 2 ** cost; left > 0; left--) {
    cipher.expand(key, zeroSalt);
    cipher.expand(repeatedSalt(salt), zeroSalt);
  }
  const block = words(Buffer.from(plaintext, 'latin1'));
  for (let i = 0; i < block.length; i += 2) {
    for (let turn = 0; turn < 64; turn++) {
      cipher.encrypt(block, i);
    }
  }
  const digest = Buffer.alloc(24);
  block.forEach((word, i) => {
    digest.writeUInt32BE(word, 4 * i);
  });
  // The salt's last digit carries only two bits, the others are written as zero.
  return `${setting[0].slice(0, 28)}${encode(decode(setting[2]!), 16).slice(-1)}${encode(digest, 23)}`;
}

const zeroSalt = new Uint32Array(4);

class Blowfish {
  readonly #state: Uint32Array;
  readonly #block = new Uint32Array(2);

  constructor(initial: Uint32Array) {
    this.#state = initial.slice();
  }

  /** Mixes a key of 18 words in, and replaces the whole state by what it encrypts, XORed with the salt by turns. */
  expand(key: Uint32Array, salt: Uint32Array): void {
    const state = this.#state;
    for (let i = 0; i < 18; i++) {
      state[i]! ^= key[i]!;
    }
    const block = this.#block;
    block[0] = 0;
    block[1] = 0;
    for (let i = 0; i < state.length; i += 2) {
      block[0]! ^= salt[i & 2]!;
      block[1]! ^= salt[(i & 2) + 1]!;
      this.encrypt(block, 0);
      state[i] = block[0]!;
      state[i + 1] = block[1]!;
    }
  }

  encrypt(block: Uint32Array, at: number): void {
    const state = this.#state;
    let left = block[at]! ^ state[0]!;
    let right = block[at + 1]!;
    for (let i = 1; i <= 16; i += 2) {
      right ^= mix(state, left) ^ state[i]!;
      left ^= mix(state, right) ^ state[i + 1]!;
    }
    block[at] = right ^ state[17]!;
    block[at + 1] = left;
  }
}

function mix(state: Uint32Array, x: number): number {
  const a = state[18 + (x >>> 24)]! + state[274 + ((x >>> 16) & 0xff)]!;
  return ((a ^ state[530 + ((x >>> 8) & 0xff)]!) + state[786 + (x & 0xff)]!) | 0;
}

/** The password with its final NUL, written over and over until it fills 18 words; 72 bytes of it count. */
function cyclicWords(password: Buffer): Uint32Array {
  const bytes = Buffer.alloc(72);
  for (let i = 0; i < 72; i++) {
    bytes[i] = password[i % (password.length + 1)] ?? 0;
  }
  return words(bytes);
}

function repeatedSalt(salt: Uint32Array): Uint32Array {
  return Uint32Array.from({ length: 18 }, (_, i) => salt[i % 4]!);
}

function words(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readUInt32BE(4 * i));
}

/** Reads 22 digits as 16 bytes. */
function decode(text: string): Buffer {
  const bytes = Buffer.alloc(16);
  let bits = 0;
  let value = 0;
  let at = 0;
  for (const digit of text) {
    value = ((value << 6) | alphabet.indexOf(digit)) & 0xffff;
    bits += 6;
    if (bits >= 8 && at < 16) {
      bits -= 8;
      bytes[at++] = value >> bits;
    }
  }
  return bytes;
}

function encode(bytes: Buffer, length: number): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (let i = 0; i < length; i++) {
    value = ((value << 8) | bytes[i]!) & 0xffff;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += alphabet.charAt((value >> bits) & 63);
    }
  }
  return bits === 0 ? text : text + alphabet.charAt((value << (6 - bits)) & 63);
}
