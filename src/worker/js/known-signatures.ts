import type { webcrypto } from 'node:crypto';
import { types } from 'node:util';
import { Lru } from '../../shared/collection/lru.js';

// What Web Crypto of scripts remembers, so that a token which comes with each request of a client costs its signature's check once: public
// keys by what they were imported of, and signatures that were right, by key.

type Key = webcrypto.CryptoKey;
type Run = (...args: unknown[]) => Promise<unknown>;

/** Keys that are remembered, and bytes of the texts that they are found by. */
const KEYS_MEMORY = 256 * 1024;
/** Bytes that the signatures of one key may take, roughly. */
const MEMORY = 512 * 1024;
const WEIGHT_EACH = 256;
/** Longer texts and keys are looked at each time. */
const LONGEST = 8192;

/** Objects with more members are no keys and no algorithms. */
const MOST_MEMBERS = 32;

const keys = new Lru<Key>(KEYS_MEMORY);
const signatures = new WeakMap<Key, Lru<true>>();

const bytesOf = (value: unknown): Buffer | undefined =>
  value instanceof ArrayBuffer
    ? Buffer.from(value)
    : ArrayBuffer.isView(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      : undefined;

/** A plain object as JSON, which says all that is in it; undefined for others: a getter could say something else the next time. */
function plainText(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)) {
    return JSON.stringify(value);
  }
  if (typeof value !== 'object' || value === null || depth > 2 || types.isProxy(value) || Object.keys(value).length > MOST_MEMBERS) {
    return undefined;
  }
  const isArray = Array.isArray(value);
  if (Object.getPrototypeOf(value) !== (isArray ? Array.prototype : Object.prototype)) {
    return undefined;
  }
  let text = '';
  for (const [name, { value: member, enumerable }] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (isArray && name === 'length') {
      continue;
    }
    const shown = enumerable === true ? plainText(member, depth + 1) : undefined;
    if (shown === undefined || name === '__proto__') {
      return undefined;
    }
    text += `${text === '' ? '' : ','}${isArray ? '' : `${JSON.stringify(name)}:`}${shown}`;
  }
  return isArray ? `[${text}]` : `{${text}}`;
}

/** `importKey`: a key that can only verify, and that nobody can take out again, is the one that was made of the same before. */
export function importKnown(importKey: Run, args: readonly unknown[]): Promise<unknown> {
  const [format, data, algorithm, extractable, usages] = args;
  const wanted =
    typeof format === 'string' && extractable === false && Array.isArray(usages) && plainText(usages) === '["verify"]'
      ? plainText(algorithm)
      : undefined;
  const given = wanted === undefined ? undefined : format === 'jwk' ? plainText(data) : bytesOf(data)?.toString('latin1');
  if (given === undefined || given.length > LONGEST) {
    return importKey(...args);
  }
  const name = `${format as string} ${wanted} ${given}`;
  const known = keys.get(name);
  if (known !== undefined) {
    return Promise.resolve(known);
  }
  // The copy is what the name says, whatever becomes of what was given.
  const own = format === 'jwk' ? (JSON.parse(given) as unknown) : Buffer.from(given, 'latin1');
  return importKey(format, own, JSON.parse(wanted!) as unknown, false, ['verify']).then((made) => {
    const key = made as Key;
    if (key.type === 'public') {
      // Whoever has it must not make it another for the rest.
      Object.freeze(key.algorithm);
      Object.freeze((key.algorithm as { hash?: object }).hash);
      Object.freeze(key.usages);
      keys.set(name, key, name.length + WEIGHT_EACH);
    }
    return key;
  });
}

/** Whether a value is a public key; what only looks like a key is none. */
function isPublic(key: unknown): key is Key {
  try {
    return !types.isProxy(key) && types.isCryptoKey(key) && (key as Key).type === 'public';
  } catch {
    return false;
  }
}

/** What is asked about a signature, as arguments of our own and as one text. */
interface Question {
  readonly args: readonly unknown[];
  readonly name: string;
}

/** What is asked; undefined where it is about no JSON Web Token, whose text is no secret. */
function questionOf([algorithm, key, signature, data]: readonly unknown[]): Question | undefined {
  const text = bytesOf(data);
  // The text begins with an object of JSON in base64url.
  if (text === undefined || text.length > LONGEST || text[0] !== 0x65 || text[1] !== 0x79 || text[2] !== 0x4a) {
    return undefined;
  }
  const signed = bytesOf(signature);
  const how = signed === undefined || signed.length > LONGEST ? undefined : plainText(algorithm);
  if (how === undefined) {
    return undefined;
  }
  // Copies: what is verified is what the name says, whatever becomes of what was given.
  const ownText = Buffer.from(text);
  const ownSigned = Buffer.from(signed!);
  return {
    args: [JSON.parse(how), key, ownSigned, ownText],
    name: `${how} ${ownSigned.length} ${ownSigned.toString('latin1')}${ownText.toString('latin1')}`,
  };
}

/** `verify`: what was right once is right again. What was wrong is looked at each time. */
export function verifyKnown(verify: Run, args: readonly unknown[]): Promise<unknown> {
  const key = args[1];
  const question = isPublic(key) ? questionOf(args) : undefined;
  if (question === undefined || !isPublic(key)) {
    return verify(...args);
  }
  const { name } = question;
  if (signatures.get(key)?.get(name) === true) {
    return Promise.resolve(true);
  }
  return verify(...question.args).then((right) => {
    if (right === true) {
      let known = signatures.get(key);
      if (known === undefined) {
        signatures.set(key, (known = new Lru(MEMORY)));
      }
      known.set(name, true, name.length + WEIGHT_EACH);
    }
    return right;
  });
}
