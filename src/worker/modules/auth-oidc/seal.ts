import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from 'node:crypto';
import { decodeBase64url } from '../../jose/base64url.js';

const SALT = 12;
const IV = 12;
const TAG = 16;

/** A key for one purpose, made of a secret text. */
export function deriveKey(secret: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `sluice oidc ${purpose}`, 32));
}

/** The MAC of a text, in base64url: what nobody can tell who does not have the key. */
export const macText = (key: Uint8Array, text: string): string => createHmac('sha256', key).update(text, 'utf8').digest('base64url');

/** The digest of a text, in base64url. */
export const digestText = (text: string): string => hash('sha256', text, 'base64url');

/** A text that nobody can guess: 256 bits in base64url, 43 characters. */
export const randomText = (): string => randomBytes(32).toString('base64url');

/** Whether a text has the form of {@link randomText}. */
export const isRandomText = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** Each message has a key of its own, so that there may be any number of them. */
const keyOf = (key: Uint8Array, salt: Uint8Array): Buffer => createHmac('sha256', key).update(salt).digest();

/** Encrypts bytes so that nobody can read or change them; `purpose` is bound to them. The result is base64url. */
export function seal(key: Uint8Array, bytes: Uint8Array, purpose: string): string {
  const head = randomBytes(SALT + IV);
  const cipher = createCipheriv('aes-256-gcm', keyOf(key, head.subarray(0, SALT)), head.subarray(SALT));
  cipher.setAAD(Buffer.from(purpose));
  const body = cipher.update(bytes);
  cipher.final();
  return Buffer.concat([head, cipher.getAuthTag(), body]).toString('base64url');
}

/** Opens what {@link seal} closed, with the first key that fits; undefined for anything else. */
export function unseal(keys: readonly Uint8Array[], text: string, purpose: string): Buffer | undefined {
  const bytes = decodeBase64url(text);
  if (bytes === undefined || bytes.length < SALT + IV + TAG) {
    return undefined;
  }
  for (const key of keys) {
    const cipher = createDecipheriv('aes-256-gcm', keyOf(key, bytes.subarray(0, SALT)), bytes.subarray(SALT, SALT + IV), {
      authTagLength: TAG,
    });
    cipher.setAAD(Buffer.from(purpose));
    cipher.setAuthTag(bytes.subarray(SALT + IV, SALT + IV + TAG));
    const body = cipher.update(bytes.subarray(SALT + IV + TAG));
    try {
      cipher.final();
      return body;
    } catch {
      // Another key may fit.
    }
  }
  return undefined;
}
