import { constants, createHash, createHmac, type KeyObject, sign, timingSafeEqual, verify, type webcrypto } from 'node:crypto';
import { ciphered, derived, derivedKey } from './crypto-ciphers.js';
import { type Algorithm, algorithmNamed, buffer, digestName, generatedKey, keyFor, NotAtOnce, notAtOnce } from './crypto-keys.js';
import { importKnown, verifyKnown } from './known-signatures.js';
import { currentTask } from './task.js';

// `crypto` of scripts: Node's, with two things that njs's has. Texts are taken where bytes are wanted, and a function whose value is wanted
// at once (js_set, filters) gets its answer before it returns: what Node does in another thread is done in this one then.

const bytesIn = (value: unknown): unknown => (typeof value === 'string' ? Buffer.from(value, 'utf8') : value);

/** Which arguments of a function are bytes. */
const BYTES: Readonly<Record<string, readonly number[]>> = {
  digest: [1],
  sign: [2],
  verify: [2, 3],
  encrypt: [2],
  decrypt: [2],
  importKey: [1],
  unwrapKey: [1],
};
const BYTES_OF_ALGORITHM = ['salt', 'iv', 'counter', 'info', 'additionalData', 'label'] as const;

function algorithmOf(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || !BYTES_OF_ALGORITHM.some((name) => typeof (given as Algorithm)[name] === 'string')) {
    return given;
  }
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, name === 'name' || name === 'hash' ? value : bytesIn(value)]),
  );
}

/** What node:crypto is told of a signature. */
function signature(algorithm: Algorithm, key: KeyObject, hash: unknown): [string | null, object] {
  switch (algorithm.name) {
    case 'RSASSA-PKCS1-V1_5':
      return [digestName(hash), { key, padding: constants.RSA_PKCS1_PADDING }];
    case 'RSA-PSS':
      return [digestName(hash), { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: algorithm['saltLength'] }];
    case 'ECDSA':
      return [digestName(algorithm['hash']), { key, dsaEncoding: 'ieee-p1363' }];
    case 'ED25519':
      return [null, { key }];
    default:
      return notAtOnce();
  }
}

/** What can be done at once, by the name of the function. */
const AT_ONCE: Readonly<Record<string, (args: readonly unknown[]) => Buffer | boolean | object>> = {
  digest: ([algorithm, data]) => createHash(digestName(algorithm)).update(buffer(data)).digest(),
  sign([given, keyGiven, data]) {
    const algorithm = algorithmNamed(given);
    const { key, hash } = keyFor(keyGiven, algorithm, 'sign');
    if (algorithm.name === 'HMAC') {
      return createHmac(digestName(hash), key).update(buffer(data)).digest();
    }
    const [digest, options] = signature(algorithm, key, hash);
    return sign(digest, buffer(data), options as Parameters<typeof sign>[2]);
  },
  verify([given, keyGiven, signed, data]) {
    const algorithm = algorithmNamed(given);
    const { key, hash } = keyFor(keyGiven, algorithm, 'verify');
    if (algorithm.name === 'HMAC') {
      const right = createHmac(digestName(hash), key).update(buffer(data)).digest();
      const theirs = buffer(signed);
      return right.length === theirs.length && timingSafeEqual(right, theirs);
    }
    const [digest, options] = signature(algorithm, key, hash);
    return verify(digest, buffer(data), options as Parameters<typeof verify>[2], buffer(signed));
  },
  encrypt: ([algorithm, key, data]) => ciphered(algorithmNamed(algorithm), key, buffer(data), true, 'encrypt'),
  decrypt: ([algorithm, key, data]) => ciphered(algorithmNamed(algorithm), key, buffer(data), false, 'decrypt'),
  deriveBits: ([algorithm, key, length]) => derived(algorithmNamed(algorithm), key, length, 'deriveBits'),
  deriveKey: derivedKey,
  generateKey: generatedKey,
};

const answer = (made: Buffer | boolean | object): unknown =>
  Buffer.isBuffer(made) ? made.buffer.slice(made.byteOffset, made.byteOffset + made.length) : made;

type Subtle = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;

/** Keys in a wrapping: their bytes, enciphered. */
const WRAPPED: Readonly<Record<string, (subtle: Subtle, args: readonly unknown[]) => Promise<unknown>>> = {
  async wrapKey(subtle, [format, key, by, algorithm]) {
    const bytes = await subtle['exportKey']!(format, key);
    const data = format === 'jwk' ? Buffer.from(JSON.stringify(bytes)) : buffer(bytes);
    return answer(ciphered(algorithmNamed(algorithm), by, data, true, 'wrapKey'));
  },
  async unwrapKey(subtle, [format, wrapped, by, algorithm, ...rest]) {
    const bytes = ciphered(algorithmNamed(algorithm), by, buffer(wrapped), false, 'unwrapKey');
    return await subtle['importKey']!(format, format === 'jwk' ? (JSON.parse(bytes.toString()) as unknown) : bytes, ...rest);
  },
};

/** What answers again what it has answered before. */
const REMEMBERED: Readonly<Record<string, typeof verifyKnown>> = { importKey: importKnown, verify: verifyKnown };

/** The data do not fit the key: the rest is of no interest. */
const unfit = (): DOMException => new DOMException('The operation failed for an operation-specific reason', 'OperationError');

/** `crypto` as scripts have it. */
export function scriptCrypto(): webcrypto.Crypto {
  const crypto = globalThis.crypto as webcrypto.Crypto;
  const { subtle } = crypto;
  const methods: Record<string, unknown> = {};
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(subtle) as object)) {
    const own: unknown = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(subtle), name)?.value;
    if (typeof own !== 'function' || name === 'constructor') {
      continue;
    }
    const run = own as (...args: unknown[]) => unknown;
    const bytes = BYTES[name] ?? [];
    const atOnce = Object.hasOwn(AT_ONCE, name) ? AT_ONCE[name] : undefined;
    const wrapped = Object.hasOwn(WRAPPED, name) ? WRAPPED[name] : undefined;
    const perform = (args: readonly unknown[]): unknown => {
      if (atOnce !== undefined && currentTask()?.atOnce === true) {
        try {
          return Promise.resolve(answer(atOnce(args)));
        } catch (error) {
          // Node's own function says what is wrong with the arguments.
          if (!(error instanceof NotAtOnce) && (name === 'encrypt' || name === 'decrypt')) {
            return Promise.reject(unfit());
          }
        }
      }
      if (wrapped !== undefined && currentTask()?.atOnce === true) {
        return wrapped(subtle as unknown as Subtle, args).catch((error: unknown) =>
          error instanceof NotAtOnce ? run.apply(subtle, args as unknown[]) : Promise.reject(error),
        );
      }
      return run.apply(subtle, args as unknown[]);
    };
    const remember = Object.hasOwn(REMEMBERED, name) ? REMEMBERED[name] : undefined;
    methods[name] = (...given: unknown[]): unknown => {
      const args = given.map((arg, i) => (bytes.includes(i) ? bytesIn(arg) : algorithmOf(arg)));
      return remember === undefined ? perform(args) : remember((...own) => perform(own) as Promise<unknown>, args);
    };
  }
  const own = Object.create(subtle, Object.getOwnPropertyDescriptors(methods)) as webcrypto.SubtleCrypto;
  return new Proxy(crypto, {
    get(target, name) {
      if (name === 'subtle') {
        return own;
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
