import { createHash } from 'node:crypto';
import { bcrypt } from './bcrypt.js';
import { desCrypt } from './des-crypt.js';
import { md5Crypt } from './md5-crypt.js';
import { shaCrypt } from './sha-crypt.js';

/** What crypt(3) returns for a setting it cannot use; no stored hash equals it. */
const failure = '*0';

/** Tells whether hashing with a stored hash's scheme takes milliseconds, so that it belongs off the event loop. */
export function isSlow(stored: string): boolean {
  return !stored.startsWith('{');
}

/** Tells whether a stored hash is of a scheme that crypt() knows; others, such as yescrypt's $y$, never match. */
export function isKnownScheme(stored: string): boolean {
  return !stored.startsWith('$') || /^\$(?:apr1|1|5|6|2[aby])\$/.test(stored);
}

/**
 * Hashes a password with the scheme and salt of a stored hash; it is the right one if the result equals the stored hash
 * (nginx: ngx_crypt, and the system's crypt). Both are latin1. Schemes: {PLAIN}, {SHA}, {SSHA}, $apr1$, $1$, $5$, $6$,
 * $2a$, $2b$, $2y$ and traditional DES.
 */
export function crypt(password: string, stored: string): string {
  // To C a password ends at a NUL.
  const end = password.indexOf('\0');
  const bytes = Buffer.from(end < 0 ? password : password.slice(0, end), 'latin1');
  if (stored.startsWith('{PLAIN}')) {
    return `{PLAIN}${bytes.toString('latin1')}`;
  }
  if (stored.startsWith('{SHA}')) {
    return `{SHA}${createHash('sha1').update(bytes).digest('base64')}`;
  }
  if (stored.startsWith('{SSHA}')) {
    const salt = Buffer.from(stored.slice(6), 'base64').subarray(20);
    const digest = createHash('sha1').update(bytes).update(salt).digest();
    return `{SSHA}${Buffer.concat([digest, salt]).toString('base64')}`;
  }
  if (stored.startsWith('$apr1$')) {
    return md5Crypt(bytes, stored, '$apr1$');
  }
  if (stored.startsWith('$1$')) {
    return md5Crypt(bytes, stored, '$1$');
  }
  if (stored.startsWith('$5$') || stored.startsWith('$6$')) {
    return shaCrypt(bytes, stored) ?? failure;
  }
  if (stored.startsWith('$2')) {
    return bcrypt(bytes, stored) ?? failure;
  }
  return desCrypt(bytes, stored) ?? failure;
}
