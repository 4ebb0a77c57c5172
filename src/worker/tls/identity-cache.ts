import { fileStamp, type ReadFile, readNow } from '../../shared/config/named-files.js';
import { nowSeconds } from '../../shared/time/unix-time.js';
import { fits, type Identity, isEncrypted, mismatch } from './identity.js';
import { DATA, loadChain, loadKey, loadNamed } from './pem.js';
import type { CertificateCache } from './settings.js';

interface Entry {
  value: unknown;
  /** Which version of the file it was read from. */
  stamp: string | undefined;
  /** Seconds of the wall clock when the file was last looked at. */
  checked: number;
  used: number;
}

/** How many entries are looked at, when one is added, to see whether they have been idle for too long. */
const EXPIRE_AT_ONCE = 2;

/** Certificates and keys that are named at request time. nginx: ngx_ssl_cache_connection_fetch. */
export class IdentityCache {
  readonly #limits: CertificateCache | null;
  /** The least recently used comes first. */
  readonly #entries = new Map<string, Entry>();

  /** Without limits, nothing is kept. */
  constructor(limits: CertificateCache | null) {
    this.#limits = limits;
  }

  /** A certificate with its key. Throws {@link TlsFileError} with nginx's line. */
  get(certificate: string, key: string, passwords: readonly string[]): Identity {
    let identity = this.#load(certificate, key, passwords, false);
    // One of the two may have been replaced together with the other while it was kept.
    if (!fits(identity) && this.#limits !== null) {
      identity = this.#load(certificate, key, passwords, true);
    }
    if (fits(identity)) {
      return identity;
    }
    throw mismatch(key, 'SSL_use_PrivateKey');
  }

  #load(certificate: string, key: string, passwords: readonly string[], anew: boolean): Identity {
    let encrypted = false;
    const read: ReadFile = (path) => {
      const text = readNow(path);
      encrypted = isEncrypted(text);
      return text;
    };
    return {
      chain: this.#fetch('certificate', certificate, anew, loadChain, () => true),
      key: this.#fetch(
        'certificate key',
        key,
        anew,
        (path) => loadKey(path, passwords, read),
        () => !encrypted,
      ),
    };
  }

  #fetch<T>(what: string, path: string, anew: boolean, load: (path: string) => T, mayKeep: () => boolean): T {
    const limits = this.#limits;
    if (limits === null) {
      return loadNamed(what, path, load);
    }
    const id = `${what} ${path}`;
    const now = nowSeconds();
    const known = this.#entries.get(id);
    if (known !== undefined) {
      this.#entries.delete(id);
      if (!path.startsWith(DATA) && (anew || now - known.checked > limits.valid)) {
        const stamp = fileStamp(path);
        if (anew || stamp === undefined || stamp !== known.stamp) {
          known.value = loadNamed(what, path, load);
          known.stamp = stamp;
          if (!mayKeep()) {
            return known.value as T;
          }
        }
        known.checked = now;
      }
      known.used = now;
      this.#entries.set(id, known);
      return known.value as T;
    }
    const value = loadNamed(what, path, load);
    if (!mayKeep()) {
      return value;
    }
    this.#expire(now, limits.inactive, false);
    if (this.#entries.size >= limits.max) {
      this.#expire(now, limits.inactive, true);
    }
    this.#entries.set(id, { value, stamp: path.startsWith(DATA) ? undefined : fileStamp(path), checked: now, used: now });
    return value;
  }

  /** Forgets entries that nobody has asked for in a while; with `force`, the oldest one anyway. */
  #expire(now: number, inactive: number, force: boolean): void {
    let left = EXPIRE_AT_ONCE;
    let forced = force;
    for (const [id, { used }] of this.#entries) {
      if (forced) {
        forced = false;
      } else if (left-- === 0 || now - used <= inactive) {
        return;
      }
      this.#entries.delete(id);
    }
  }
}
