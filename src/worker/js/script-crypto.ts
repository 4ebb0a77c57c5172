import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  hkdfSync,
  type JsonWebKeyInput,
  KeyObject,
  pbkdf2Sync,
  privateDecrypt,
  publicEncrypt,
  sign,
  timingSafeEqual,
  verify,
  type webcrypto,
} from 'node:crypto';
import { currentTask } from './task.js';

// `crypto` of scripts: Node's, with two things that njs's has. Texts are taken where bytes are wanted, and a function whose value is wanted
// at once (js_set, filters) gets its answer before it returns: what Node does in another thread is done in this one then.

type Key = webcrypto.CryptoKey;
type Algorithm = Readonly<Record<string, unknown>> & { readonly name: string };

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

const buffer = (value: unknown): Buffer =>
  value instanceof ArrayBuffer
    ? Buffer.from(value)
    : ArrayBuffer.isView(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      : fail();

/** The arguments are none for which there is a way here: Node's own says what is wrong with them. */
function fail(): never {
  throw new TypeError('not here');
}

const digestName = (hash: unknown): string => {
  const name = typeof hash === 'string' ? hash : (hash as { readonly name?: unknown } | undefined)?.name;
  const found = /^sha-(1|256|384|512)$/i.exec(String(name))?.[1];
  return found === undefined ? fail() : `sha${found}`;
};

const named = (given: unknown): Algorithm => {
  const algorithm = typeof given === 'string' ? { name: given } : (given as Algorithm);
  return typeof algorithm?.name === 'string' ? { ...algorithm, name: algorithm.name.toUpperCase() } : fail();
};

/** Keys that scripts have imported: Node does not give those out that are not to be exported. */
const known = new WeakMap<Key, KeyObject>();

function remember(key: Key, [format, data]: readonly unknown[]): void {
  try {
    if (format === 'jwk') {
      const jwk = data as { readonly kty?: unknown; readonly k?: string };
      const options = { key: data as JsonWebKeyInput['key'], format: 'jwk' } as const;
      known.set(
        key,
        jwk.kty === 'oct'
          ? createSecretKey(Buffer.from(String(jwk.k), 'base64url'))
          : key.type === 'private'
            ? createPrivateKey(options)
            : createPublicKey(options),
      );
    } else if (format === 'raw' && key.type === 'secret') {
      known.set(key, createSecretKey(buffer(data)));
    } else if (format === 'spki') {
      known.set(key, createPublicKey({ key: buffer(data), format: 'der', type: 'spki' }));
    } else if (format === 'pkcs8') {
      known.set(key, createPrivateKey({ key: buffer(data), format: 'der', type: 'pkcs8' }));
    }
  } catch {
    // There is no way at once for such a key.
  }
}

function keyFor(given: unknown, algorithm: Algorithm, usage: string): { readonly key: KeyObject; readonly hash: unknown } {
  const key = given as Key;
  if (key?.algorithm?.name?.toUpperCase() !== algorithm.name || !(key.usages as readonly string[]).includes(usage)) {
    return fail();
  }
  return {
    key: known.get(key) ?? (key.extractable ? KeyObject.from(key) : fail()),
    hash: (key.algorithm as { readonly hash?: unknown }).hash,
  };
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
      return fail();
  }
}

function ciphered(algorithm: Algorithm, given: unknown, data: Buffer, encrypt: boolean): Buffer {
  const { key, hash } = keyFor(given, algorithm, encrypt ? 'encrypt' : 'decrypt');
  if (algorithm.name === 'RSA-OAEP') {
    const label = algorithm['label'];
    const options = {
      key,
      padding: constants.RSA_PKCS1_OAEP_PADDING,
      oaepHash: digestName(hash),
      ...(label === undefined ? {} : { oaepLabel: buffer(label) }),
    };
    return encrypt ? publicEncrypt(options, data) : privateDecrypt(options, data);
  }
  const bits = (key.symmetricKeySize ?? 0) * 8;
  const make = encrypt ? createCipheriv : createDecipheriv;
  if (algorithm.name === 'AES-CBC' || (algorithm.name === 'AES-CTR' && algorithm['length'] === 128)) {
    const cbc = algorithm.name === 'AES-CBC';
    const cipher = make(`aes-${bits}-${cbc ? 'cbc' : 'ctr'}`, key, buffer(algorithm[cbc ? 'iv' : 'counter']));
    return Buffer.concat([cipher.update(data), cipher.final()]);
  }
  if (algorithm.name !== 'AES-GCM') {
    return fail();
  }
  const authTagLength = Number(algorithm['tagLength'] ?? 128) / 8;
  const aad = algorithm['additionalData'];
  const iv = buffer(algorithm['iv']);
  if (encrypt) {
    const cipher = createCipheriv(`aes-${bits as 128}-gcm`, key, iv, { authTagLength });
    if (aad !== undefined) {
      cipher.setAAD(buffer(aad));
    }
    return Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()]);
  }
  const cipher = createDecipheriv(`aes-${bits as 128}-gcm`, key, iv, { authTagLength });
  if (aad !== undefined) {
    cipher.setAAD(buffer(aad));
  }
  cipher.setAuthTag(data.subarray(-authTagLength));
  return Buffer.concat([cipher.update(data.subarray(0, -authTagLength)), cipher.final()]);
}

function derived(algorithm: Algorithm, given: unknown, length: unknown): Buffer {
  const { key } = keyFor(given, algorithm, 'deriveBits');
  if (typeof length !== 'number' || length % 8 !== 0 || length === 0) {
    return fail();
  }
  const hash = digestName(algorithm['hash']);
  const salt = buffer(algorithm['salt']);
  if (algorithm.name === 'HKDF') {
    return Buffer.from(hkdfSync(hash, key, salt, buffer(algorithm['info']), length / 8));
  }
  return algorithm.name === 'PBKDF2' ? pbkdf2Sync(key.export(), salt, Number(algorithm['iterations']), length / 8, hash) : fail();
}

/** What can be done at once, by the name of the function. */
const AT_ONCE: Readonly<Record<string, (args: readonly unknown[]) => Buffer | boolean>> = {
  digest: ([algorithm, data]) => createHash(digestName(algorithm)).update(buffer(data)).digest(),
  sign([given, keyGiven, data]) {
    const algorithm = named(given);
    const { key, hash } = keyFor(keyGiven, algorithm, 'sign');
    if (algorithm.name === 'HMAC') {
      return createHmac(digestName(hash), key).update(buffer(data)).digest();
    }
    const [digest, options] = signature(algorithm, key, hash);
    return sign(digest, buffer(data), options as Parameters<typeof sign>[2]);
  },
  verify([given, keyGiven, signed, data]) {
    const algorithm = named(given);
    const { key, hash } = keyFor(keyGiven, algorithm, 'verify');
    if (algorithm.name === 'HMAC') {
      const right = createHmac(digestName(hash), key).update(buffer(data)).digest();
      const theirs = buffer(signed);
      return right.length === theirs.length && timingSafeEqual(right, theirs);
    }
    const [digest, options] = signature(algorithm, key, hash);
    return verify(digest, buffer(data), options as Parameters<typeof verify>[2], buffer(signed));
  },
  encrypt: ([algorithm, key, data]) => ciphered(named(algorithm), key, buffer(data), true),
  decrypt: ([algorithm, key, data]) => ciphered(named(algorithm), key, buffer(data), false),
  deriveBits: ([algorithm, key, length]) => derived(named(algorithm), key, length),
};

const answer = (made: Buffer | boolean): unknown =>
  typeof made === 'boolean' ? made : made.buffer.slice(made.byteOffset, made.byteOffset + made.length);

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
    methods[name] = (...given: unknown[]): unknown => {
      const args = given.map((arg, i) => (bytes.includes(i) ? bytesIn(arg) : algorithmOf(arg)));
      if (atOnce !== undefined && currentTask()?.atOnce === true) {
        try {
          return Promise.resolve(answer(atOnce(args)));
        } catch {
          // Node's own function says what is wrong.
        }
      }
      const result = run.apply(subtle, args);
      if (name === 'importKey' && currentTask()?.atOnce === true) {
        return (result as Promise<Key>).then((key) => {
          remember(key, args);
          return key;
        });
      }
      return result;
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
