import { createSecretKey, generateKeyPairSync, KeyObject, randomBytes, type webcrypto } from 'node:crypto';

// Keys of Web Crypto as node:crypto has them, for what a script wants at once.

export type Key = webcrypto.CryptoKey;
export type Algorithm = Readonly<Record<string, unknown>> & { readonly name: string };

/** There is no way at once for what was asked: Node's own function does it, or says what is wrong. */
export class NotAtOnce extends Error {}

/** Gives up. @throws NotAtOnce always */
export function notAtOnce(): never {
  throw new NotAtOnce();
}

/** The bytes of an argument. @throws NotAtOnce when it has none */
export const buffer = (value: unknown): Buffer =>
  value instanceof ArrayBuffer
    ? Buffer.from(value)
    : ArrayBuffer.isView(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      : notAtOnce();

/** OpenSSL's name of a digest that Web Crypto names. @throws NotAtOnce for one that is unknown */
export const digestName = (hash: unknown): string => {
  const name = typeof hash === 'string' ? hash : (hash as { readonly name?: unknown } | undefined)?.name;
  const found = /^sha-(1|256|384|512)$/i.exec(String(name))?.[1];
  return found === undefined ? notAtOnce() : `sha${found}`;
};

/** An algorithm, which a script may give by its name alone, with its name in capitals. @throws NotAtOnce for one without a name */
export const algorithmNamed = (given: unknown): Algorithm => {
  const algorithm = typeof given === 'string' ? { name: given } : (given as Algorithm);
  return typeof algorithm?.name === 'string' ? { ...algorithm, name: algorithm.name.toUpperCase() } : notAtOnce();
};

/** Keys that have been used at once. */
const known = new WeakMap<Key, KeyObject>();

/** A key as node:crypto has it. Wherever the script has it from, it need not be one that it may export: it does not get to see it. */
export function keyObject(key: Key): KeyObject {
  let found = known.get(key);
  if (found === undefined) {
    const { noDeprecation } = process;
    // Node warns of those that are not to be exported.
    process.noDeprecation = true;
    try {
      found = KeyObject.from(key);
    } finally {
      process.noDeprecation = noDeprecation === true;
    }
    known.set(key, found);
  }
  return found;
}

/** A key for a use. @throws NotAtOnce when it is for another algorithm or use */
export function keyFor(given: unknown, algorithm: Algorithm, usage: string): { readonly key: KeyObject; readonly hash: unknown } {
  const key = given as Key;
  if (key?.algorithm?.name?.toUpperCase() !== algorithm.name || !(key.usages as readonly string[]).includes(usage)) {
    return notAtOnce();
  }
  return {
    key: keyObject(key),
    hash: (key.algorithm as { readonly hash?: unknown }).hash,
  };
}

type ToKey = (algorithm: unknown, extractable: boolean, usages: readonly string[]) => Key;

function keyOf(object: KeyObject, algorithm: unknown, extractable: boolean, usages: readonly string[]): Key {
  const { toCryptoKey } = object as KeyObject & { readonly toCryptoKey?: ToKey };
  if (toCryptoKey === undefined) {
    return notAtOnce();
  }
  const key = toCryptoKey.call(object, algorithm, extractable, usages);
  known.set(key, object);
  return key;
}

/** How many bytes a secret key of an algorithm has. @throws NotAtOnce for an algorithm without such keys */
export function secretLength(algorithm: Algorithm): number {
  const { length } = algorithm;
  if (algorithm.name === 'HMAC') {
    const block = /^sha(?:1|256)$/.test(digestName(algorithm['hash'])) ? 64 : 128;
    return length === undefined ? block : typeof length === 'number' && length > 0 && length % 8 === 0 ? length / 8 : notAtOnce();
  }
  return /^AES-/.test(algorithm.name) && (length === 128 || length === 192 || length === 256) ? length / 8 : notAtOnce();
}

/** A secret key of bytes that were derived. */
export const secretKey = (bytes: Buffer, algorithm: unknown, extractable: unknown, usages: unknown): Key =>
  keyOf(createSecretKey(bytes), algorithm, Boolean(extractable), usagesOf(usages));

const usagesOf = (given: unknown): string[] => (Array.isArray(given) && given.length > 0 ? given.map(String) : notAtOnce());

/** What the public key of a pair is for; the private one is for the rest. */
const PUBLIC = ['verify', 'encrypt', 'wrapKey'];

function keyPair(algorithm: Algorithm): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  switch (algorithm.name) {
    case 'ECDSA':
    case 'ECDH':
      return generateKeyPairSync('ec', { namedCurve: String(algorithm['namedCurve']) });
    case 'ED25519':
      return generateKeyPairSync('ed25519');
    case 'X25519':
      return generateKeyPairSync('x25519');
    case 'RSASSA-PKCS1-V1_5':
    case 'RSA-PSS':
    case 'RSA-OAEP':
      return generateKeyPairSync('rsa', {
        modulusLength: Number(algorithm['modulusLength']),
        publicExponent: buffer(algorithm['publicExponent']).reduce((value, byte) => value * 256 + byte, 0),
      });
    default:
      return notAtOnce();
  }
}

/** `generateKey`, at once. */
export function generatedKey([given, extractable, usagesGiven]: readonly unknown[]): object {
  const algorithm = algorithmNamed(given);
  const usages = usagesOf(usagesGiven);
  if (/^(?:AES-|HMAC$)/.test(algorithm.name)) {
    return secretKey(randomBytes(secretLength(algorithm)), given, extractable, usages);
  }
  const { publicKey, privateKey } = keyPair(algorithm);
  return {
    publicKey: keyOf(
      publicKey,
      given,
      true,
      usages.filter((usage) => PUBLIC.includes(usage)),
    ),
    privateKey: keyOf(
      privateKey,
      given,
      Boolean(extractable),
      usages.filter((usage) => !PUBLIC.includes(usage)),
    ),
  };
}
