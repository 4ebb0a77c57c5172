import { createHash, hash } from 'node:crypto';

/** What crypt(3) returns for a setting it cannot use; no stored hash equals it. */
export const CRYPT_FAILURE = '*0';

/** Tells whether hashing with a stored hash's scheme takes milliseconds, so that it belongs off the event loop, to crypt.ts. */
export function isSlow(stored: string): boolean {
  return !stored.startsWith('{');
}

/** Tells whether a stored hash is of a scheme that crypt.ts knows; others, such as yescrypt's $y$, are the system's business. */
export function isKnownScheme(stored: string): boolean {
  return !/^[$_]/.test(stored) || /^\$(?:apr1|1|5|6|2[aby])\$/.test(stored);
}

/** The bytes of a latin1 text, up to a NUL: to C a password ends there. */
export function passwordBytes(password: string): Buffer {
  const end = password.indexOf('\0');
  return Buffer.from(end < 0 ? password : password.slice(0, end), 'latin1');
}

/** Hashes as crypt() does with the schemes that take no time: {PLAIN}, {SHA} and {SSHA}. */
export function quickCrypt(password: string, stored: string): string {
  const bytes = passwordBytes(password);
  if (stored.startsWith('{PLAIN}')) {
    return `{PLAIN}${bytes.toString('latin1')}`;
  }
  if (stored.startsWith('{SHA}')) {
    return `{SHA}${hash('sha1', bytes, 'base64')}`;
  }
  if (stored.startsWith('{SSHA}')) {
    const salt = Buffer.from(stored.slice(6), 'base64').subarray(20);
    const digest = createHash('sha1').update(bytes).update(salt).digest();
    return `{SSHA}${Buffer.concat([digest, salt]).toString('base64')}`;
  }
  return CRYPT_FAILURE;
}
