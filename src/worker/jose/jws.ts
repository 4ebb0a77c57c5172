import { decodeBase64url } from './base64url.js';
import { type JsonObject, parseObject } from './json.js';
import type { Key } from './key.js';
import { candidates, type KeySet } from './key-set.js';
import { SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from './signature.js';

/** A signed text in its compact form, verified. */
export interface Jws {
  readonly header: JsonObject;
  readonly payload: Buffer;
}

/** Longer tokens are not looked at. */
export const MAX_TOKEN = 64 * 1024;

/**
 * Reads the protected header of a token. A text says why it is refused: extensions that must be understood (`crit`) are not, and neither
 * are payloads that are not encoded (`b64`). Keys that a header brings or names (`jwk`, `jku`, `x5c`, `x5u`) are not looked at.
 */
export function readJwsHeader(encoded: string): JsonObject | string {
  const bytes = decodeBase64url(encoded);
  const header = bytes === undefined ? undefined : parseObject(bytes);
  if (header === undefined) {
    return 'its header is not well formed';
  }
  if (header.has('crit')) {
    return 'its header has crit';
  }
  if (header.has('b64') && header.get('b64') !== true) {
    return 'its payload is not encoded (b64)';
  }
  if (header.has('kid') && typeof header.get('kid') !== 'string') {
    return 'its header is not well formed';
  }
  return header;
}

/** Verifies a signed text in its compact form. A text says why it is refused, in words that do not depend on who sent it. */
export function verifyJws(token: string, sets: readonly KeySet[]): Jws | string {
  if (token.length > MAX_TOKEN) {
    return 'it is too long';
  }
  const first = token.indexOf('.');
  const last = token.lastIndexOf('.');
  if (first === -1 || first === last || token.indexOf('.', first + 1) !== last) {
    return 'it has not three parts';
  }
  const header = readJwsHeader(token.slice(0, first));
  if (typeof header === 'string') {
    return header;
  }
  const name = header.get('alg');
  const algorithm = typeof name === 'string' ? SIGNATURE_ALGORITHMS.get(name) : undefined;
  if (algorithm === undefined) {
    return name === 'none' ? 'it is not signed (alg: none)' : 'its algorithm is not known';
  }
  const payload = decodeBase64url(token.slice(first + 1, last));
  const signature = decodeBase64url(token.slice(last + 1));
  if (payload === undefined || signature === undefined || signature.length === 0) {
    return 'it is not well formed';
  }
  const keys = candidates(sets, header, 'sig', (key) => algorithm.fits(key) && suits(key, name as string));
  if (keys.length === 0) {
    return NO_KEY;
  }
  const data = Buffer.from(token.slice(0, last), 'latin1');
  return keys.some((key) => holds(algorithm, key, data, signature)) ? { header, payload } : 'its signature is wrong';
}

/** Whether a key may be used with an algorithm by its name. Ed25519 and Ed448 have two names each. */
export function suits({ algorithm, type, curve }: Key, name: string): boolean {
  return algorithm === undefined || algorithm === name || (type === 'OKP' && (algorithm === 'EdDSA' || algorithm === curve));
}

/** The reason that a newer set of keys may mend. */
export const NO_KEY = 'no key fits it';

function holds(algorithm: SignatureAlgorithm, key: Key, data: Buffer, signature: Buffer): boolean {
  try {
    return algorithm.verify(key, data, signature);
  } catch {
    // OpenSSL does not take the key for this.
    return false;
  }
}
