import { bcrypt } from './bcrypt.js';
import { desCrypt } from './des-crypt.js';
import { md5Crypt } from './md5-crypt.js';
import { CRYPT_FAILURE, isSlow, passwordBytes, quickCrypt } from './quick-crypt.js';
import { shaCrypt } from './sha-crypt.js';

/**
 * Hashes a password with the scheme and salt of a stored hash; it is the right one if the result equals the stored hash
 * (nginx: ngx_crypt, and the system's crypt). Both are latin1. Schemes: {PLAIN}, {SHA}, {SSHA}, $apr1$, $1$, $5$, $6$,
 * $2a$, $2b$, $2y$ and traditional DES.
 */
export async function crypt(password: string, stored: string): Promise<string> {
  if (!isSlow(stored)) {
    return quickCrypt(password, stored);
  }
  const bytes = passwordBytes(password);
  if (stored.startsWith('$apr1$')) {
    return md5Crypt(bytes, stored, '$apr1$');
  }
  if (stored.startsWith('$1$')) {
    return md5Crypt(bytes, stored, '$1$');
  }
  if (stored.startsWith('$5$') || stored.startsWith('$6$')) {
    return shaCrypt(bytes, stored) ?? CRYPT_FAILURE;
  }
  if (stored.startsWith('$2')) {
    return (await bcrypt(bytes, stored)) ?? CRYPT_FAILURE;
  }
  return desCrypt(bytes, stored) ?? CRYPT_FAILURE;
}
