import { loadNative } from '../../shared/native/native.js';
import type { Hash } from './hash-queue.js';
import { CRYPT_FAILURE, passwordBytes } from './quick-crypt.js';

/**
 * Hashes passwords with the schemes that the system's libcrypt knows, such as yescrypt, in libuv's threads; undefined where libcrypt cannot
 * be called. nginx: ngx_libc_crypt.
 */
export function systemCrypt(): Hash | undefined {
  const native = loadNative();
  const crypt = typeof native === 'string' ? undefined : native.loadCrypt();
  if (crypt === undefined) {
    return undefined;
  }
  return (password, stored, callback) =>
    crypt(passwordBytes(password), Buffer.from(stored, 'latin1'), (hash) => callback(hash ?? CRYPT_FAILURE));
}
