import { createHash } from 'node:crypto';
import { toCrypt64 } from './crypt-base64.js';

/**
 * Hashes a password by Poul-Henning Kamp's MD5 scheme, which `$1$` and Apache's `$apr1$` share but for the prefix. The salt is
 * what follows the prefix, up to eight characters or a `$`. About 2 ms.
 */
export function md5Crypt(password: Buffer, stored: string, prefix: '$1$' | '$apr1$'): string {
  const salt = /^[^$]{0,8}/.exec(stored.slice(prefix.length))![0];
  const saltBytes = Buffer.from(salt, 'latin1');
  const hash = createHash('md5').update(password).update(prefix, 'latin1').update(saltBytes);
  let digest = createHash('md5').update(password).update(saltBytes).update(password).digest();
  for (let left = password.length; left > 0; left -= 16) {
    hash.update(digest.subarray(0, Math.min(left, 16)));
  }
  const zero = Buffer.alloc(1);
  for (let bits = password.length; bits > 0; bits >>= 1) {
    hash.update(bits & 1 ? zero : password.subarray(0, 1));
  }
  digest = hash.digest();
  for (let i = 0; i < 1000; i++) {
    const round = createHash('md5').update(i & 1 ? password : digest);
    if (i % 3 !== 0) {
      round.update(saltBytes);
    }
    if (i % 7 !== 0) {
      round.update(password);
    }
    digest = round.update(i & 1 ? digest : password).digest();
  }
  let text = '';
  for (const [a, b, c] of [
    [0, 6, 12],
    [1, 7, 13],
    [2, 8, 14],
    [3, 9, 15],
    [4, 10, 5],
  ] as const) {
    text += toCrypt64((digest[a]! << 16) | (digest[b]! << 8) | digest[c]!, 4);
  }
  return `${prefix}${salt}$${text}${toCrypt64(digest[11]!, 2)}`;
}
