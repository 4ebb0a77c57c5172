import { loadNative, type SystemHash } from '../../shared/native/native.js';
import { CRYPT_FAILURE, passwordBytes } from './quick-crypt.js';

/** How many hashes are computed at a time: libuv's threads, which do it, have files to read, too. */
const MOST = 2;

interface Job {
  readonly password: string;
  readonly stored: string;
  readonly callback: (hash: string | undefined) => void;
}

/** Hashes passwords with the schemes that the system's libcrypt knows, such as yescrypt, in libuv's threads. nginx: ngx_libc_crypt. */
export class SystemCrypt {
  readonly #crypt: SystemHash;
  readonly #waiting: Job[] = [];
  #running = 0;

  private constructor(crypt: SystemHash) {
    this.#crypt = crypt;
  }

  /** Undefined where libcrypt cannot be called. */
  static load(): SystemCrypt | undefined {
    const native = loadNative();
    const crypt = typeof native === 'string' ? undefined : native.loadCrypt();
    return crypt === undefined ? undefined : new SystemCrypt(crypt);
  }

  /** Calls back with the result of crypt(); both texts are latin1. */
  hash(password: string, stored: string, callback: (hash: string | undefined) => void): void {
    this.#waiting.push({ password, stored, callback });
    this.#next();
  }

  #next(): void {
    const job = this.#running < MOST ? this.#waiting.shift() : undefined;
    if (job === undefined) {
      return;
    }
    this.#running++;
    const { password, stored, callback } = job;
    this.#crypt(passwordBytes(password), Buffer.from(stored, 'latin1'), (hash) => {
      this.#running--;
      callback(hash ?? CRYPT_FAILURE);
      this.#next();
    });
  }
}
