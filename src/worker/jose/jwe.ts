import { decodeBase64url } from './base64url.js';
import { josePackage } from './jose-package.js';
import type { JsonObject } from './json.js';
import { MAX_TOKEN, NO_KEY, readJwsHeader } from './jws.js';
import type { Key } from './key.js';
import { candidates, type KeySet } from './key-set.js';

/** An encrypted text in its compact form, decrypted. */
export interface Jwe {
  readonly header: JsonObject;
  readonly plaintext: Buffer;
}

/**
 * How the key of the content is had; those that NGINX Plus documents. Encryption by passwords is not among them, whose work the sender of a
 * token chooses, and neither is RSA with the old padding, which tells attackers what is in it.
 */
const KEY_ALGORITHMS: ReadonlyMap<string, (key: Key) => boolean> = new Map([
  ['dir', shared],
  ...['A128KW', 'A192KW', 'A256KW', 'A128GCMKW', 'A192GCMKW', 'A256GCMKW'].map((name) => [name, shared] as const),
  ...['RSA-OAEP', 'RSA-OAEP-256', 'RSA-OAEP-384', 'RSA-OAEP-512'].map((name) => [name, privateRsa] as const),
]);
const CONTENT_ALGORITHMS = ['A128CBC-HS256', 'A192CBC-HS384', 'A256CBC-HS512', 'A128GCM', 'A192GCM', 'A256GCM'];

function shared(key: Key): boolean {
  return key.type === 'oct';
}

function privateRsa(key: Key): boolean {
  return key.type === 'RSA' && key.secret !== undefined;
}

/** The header of an encrypted text, which everybody can read; a text says why the whole is refused. */
export function readJweHeader(token: string): JsonObject | string {
  if (token.length > MAX_TOKEN) {
    return 'it is too long';
  }
  const parts = token.split('.', 6);
  if (parts.length !== 5) {
    return 'it has not five parts';
  }
  // The package takes other texts for the same bytes.
  if (parts.some((part) => decodeBase64url(part) === undefined)) {
    return 'it is not well formed';
  }
  const header = readJwsHeader(parts[0]!);
  if (typeof header === 'string') {
    return header;
  }
  if (header.has('zip')) {
    return 'it is compressed (zip)';
  }
  const algorithm = header.get('alg');
  const content = header.get('enc');
  return typeof algorithm === 'string' && KEY_ALGORITHMS.has(algorithm) && CONTENT_ALGORITHMS.includes(content as string)
    ? header
    : 'its algorithm is not known';
}

/** Decrypts a text in its compact form; calls back later, with a text where it is refused. */
export function decryptJwe(token: string, sets: readonly KeySet[], done: (jwe: Jwe | string) => void): void {
  const header = readJweHeader(token);
  if (typeof header === 'string') {
    process.nextTick(done, header);
    return;
  }
  const algorithm = header.get('alg') as string;
  // The key for direct use is one of the content's algorithm.
  const names = [algorithm, ...(algorithm === 'dir' ? [header.get('enc') as string] : [])];
  const fits = KEY_ALGORITHMS.get(algorithm)!;
  const keys = candidates(sets, header, 'enc', (key) => fits(key) && (key.algorithm === undefined || names.includes(key.algorithm)));
  if (keys.length === 0) {
    process.nextTick(done, NO_KEY);
    return;
  }
  decrypt(token, keys, [algorithm]).then(
    (plaintext) => done({ header, plaintext }),
    () => done('it cannot be decrypted'),
  );
}

async function decrypt(token: string, keys: readonly Key[], algorithms: string[]): Promise<Buffer> {
  const { compactDecrypt } = josePackage();
  let failure: unknown;
  for (const key of keys) {
    try {
      const { plaintext } = await compactDecrypt(token, key.type === 'oct' ? key.secret!.export() : key.secret!, {
        keyManagementAlgorithms: algorithms,
        contentEncryptionAlgorithms: CONTENT_ALGORITHMS,
      });
      return Buffer.from(plaintext.buffer, plaintext.byteOffset, plaintext.length);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
