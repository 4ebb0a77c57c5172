import { createHash } from 'node:crypto';
import { toCrypt64 } from './crypt-base64.js';

interface Variant {
  readonly algorithm: 'sha256' | 'sha512';
  readonly prefix: '$5$' | '$6$';
  readonly size: 32 | 64;
}

const sha256: Variant = { algorithm: 'sha256', prefix: '$5$', size: 32 };
const sha512: Variant = { algorithm: 'sha512', prefix: '$6$', size: 64 };

/**
 * Hashes a password by Ulrich Drepper's SHA-crypt, `$5$` or `$6$`, with the salt (16 characters at most) and the number of
 * rounds of a stored hash. About 10 ms for the usual 5000 rounds. Returns undefined for a malformed setting.
 */
export function shaCrypt(password: Buffer, stored: string): string | undefined {
  const variant = stored.startsWith('$5$') ? sha256 : sha512;
  const setting = /^(?:rounds=(\d{1,9})\$)?([^$]{0,16})/.exec(stored.slice(3))!;
  const asked = setting[1];
  if (asked !== undefined && (asked.startsWith('0') || Number(asked) < 1000)) {
    return undefined;
  }
  const rounds = asked === undefined ? 5000 : Number(asked);
  const salt = setting[2]!;
  const digest = stretch(password, Buffer.from(salt, 'latin1'), rounds, variant);
  return `${variant.prefix}${asked === undefined ? '' : `rounds=${rounds}$`}${salt}$${encode(digest, variant)}`;
}

function stretch(password: Buffer, salt: Buffer, rounds: number, { algorithm, size }: Variant): Buffer {
  const alternate = createHash(algorithm).update(password).update(salt).update(password).digest();
  const hash = createHash(algorithm).update(password).update(salt).update(repeated(alternate, password.length));
  for (let bits = password.length; bits > 0; bits >>= 1) {
    hash.update(bits & 1 ? alternate : password);
  }
  let digest = hash.digest();
  const forPassword = createHash(algorithm);
  for (let i = 0; i < password.length; i++) {
    forPassword.update(password);
  }
  const p = repeated(forPassword.digest(), password.length);
  const forSalt = createHash(algorithm);
  for (let i = 0; i < 16 + digest[0]!; i++) {
    forSalt.update(salt);
  }
  const s = repeated(forSalt.digest(), salt.length);
  // One buffer a round instead of several updates: a digest, the password twice and the salt.
  const input = Buffer.alloc(size + 2 * p.length + s.length);
  for (let i = 0; i < rounds; i++) {
    let length = (i & 1 ? p : digest).copy(input, 0);
    if (i % 3 !== 0) {
      length += s.copy(input, length);
    }
    if (i % 7 !== 0) {
      length += p.copy(input, length);
    }
    length += (i & 1 ? digest : p).copy(input, length);
    digest = createHash(algorithm).update(input.subarray(0, length)).digest();
  }
  return digest;
}

/** Returns `length` bytes of a digest written over and over. */
function repeated(digest: Buffer, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += digest.length) {
    digest.copy(bytes, at);
  }
  return bytes;
}

/** Writes a digest in groups of three bytes that lie a third of it apart and swap places from group to group. */
function encode(digest: Buffer, { size }: Variant): string {
  const third = (size - (size % 3)) / 3;
  let text = '';
  let [a, b, c] = [0, third, 2 * third];
  for (let i = 0; i < third; i++) {
    text += toCrypt64((digest[a]! << 16) | (digest[b]! << 8) | digest[c]!, 4);
    [a, b, c] = size === 64 ? [b + 1, c + 1, a + 1] : [c + 1, a + 1, b + 1];
  }
  return text + (size === 64 ? toCrypt64(digest[63]!, 2) : toCrypt64((digest[31]! << 8) | digest[30]!, 3));
}
