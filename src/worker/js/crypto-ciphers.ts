import {
  constants,
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
  pbkdf2Sync,
  privateDecrypt,
  publicEncrypt,
} from 'node:crypto';
import {
  type Algorithm,
  algorithmNamed,
  buffer,
  digestName,
  type Key,
  keyFor,
  keyObject,
  notAtOnce,
  secretKey,
  secretLength,
} from './crypto-keys.js';

// What Web Crypto enciphers and derives, at once.

/** Enciphers or deciphers. @throws NotAtOnce for arguments that are none, another Error when the data do not fit the key */
export function ciphered(algorithm: Algorithm, given: unknown, data: Buffer, encrypt: boolean, usage: string): Buffer {
  const { key, hash } = keyFor(given, algorithm, usage);
  switch (algorithm.name) {
    case 'RSA-OAEP':
      return rsaCiphered(algorithm, key, hash, data, encrypt);
    case 'AES-CBC': {
      const iv = sized(algorithm['iv'], 16);
      return whole((encrypt ? createCipheriv : createDecipheriv)(`aes-${bitsOf(key)}-cbc`, key, iv), data);
    }
    case 'AES-CTR':
      return counted(algorithm, key, data);
    case 'AES-KW':
      // Its first block is RFC 3394's.
      return whole((encrypt ? createCipheriv : createDecipheriv)(`id-aes${bitsOf(key)}-wrap`, key, Buffer.alloc(8, 0xa6)), data);
    case 'AES-GCM':
      return gcmCiphered(algorithm, key, data, encrypt);
    default:
      return notAtOnce();
  }
}

const bitsOf = (key: KeyObject): number => (key.symmetricKeySize ?? 0) * 8;

const sized = (value: unknown, length: number): Buffer => {
  const bytes = buffer(value);
  return bytes.length === length ? bytes : notAtOnce();
};

const whole = (cipher: { update(data: Buffer): Buffer; final(): Buffer }, data: Buffer): Buffer =>
  Buffer.concat([cipher.update(data), cipher.final()]);

function rsaCiphered(algorithm: Algorithm, key: KeyObject, hash: unknown, data: Buffer, encrypt: boolean): Buffer {
  const label = algorithm['label'];
  const options = {
    key,
    padding: constants.RSA_PKCS1_OAEP_PADDING,
    oaepHash: digestName(hash),
    ...(label === undefined ? {} : { oaepLabel: buffer(label) }),
  };
  return encrypt ? publicEncrypt(options, data) : privateDecrypt(options, data);
}

const BLOCK = 16;

/** AES-CTR, of whose counter only the last bits count: they begin again at 0 where OpenSSL would carry on. */
function counted(algorithm: Algorithm, key: KeyObject, data: Buffer): Buffer {
  const counter = sized(algorithm['counter'], BLOCK);
  const bits = algorithm['length'];
  if (typeof bits !== 'number' || !(bits >= 1 && bits <= 128) || !Number.isInteger(bits)) {
    return notAtOnce();
  }
  const name = `aes-${bitsOf(key)}-ctr`;
  const start = BigInt(`0x${counter.toString('hex')}`);
  const round = 1n << BigInt(bits);
  const left = round - (start % round);
  const blocks = BigInt(Math.ceil(data.length / BLOCK));
  if (blocks > round) {
    return notAtOnce();
  }
  if (blocks <= left) {
    return whole(createCipheriv(name, key, counter), data);
  }
  const first = Number(left) * BLOCK;
  const again = Buffer.from((start - (start % round)).toString(16).padStart(2 * BLOCK, '0'), 'hex');
  return Buffer.concat([
    whole(createCipheriv(name, key, counter), data.subarray(0, first)),
    whole(createCipheriv(name, key, again), data.subarray(first)),
  ]);
}

const TAGS = [32, 64, 96, 104, 112, 120, 128];

function gcmCiphered(algorithm: Algorithm, key: KeyObject, data: Buffer, encrypt: boolean): Buffer {
  const tag = algorithm['tagLength'] ?? 128;
  if (!TAGS.includes(tag as number)) {
    return notAtOnce();
  }
  const authTagLength = (tag as number) / 8;
  const aad = algorithm['additionalData'];
  const iv = buffer(algorithm['iv']);
  if (iv.length === 0) {
    return notAtOnce();
  }
  const name = `aes-${bitsOf(key) as 128}-gcm` as const;
  if (encrypt) {
    const cipher = createCipheriv(name, key, iv, { authTagLength });
    if (aad !== undefined) {
      cipher.setAAD(buffer(aad));
    }
    return Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()]);
  }
  const cipher = createDecipheriv(name, key, iv, { authTagLength });
  if (aad !== undefined) {
    cipher.setAAD(buffer(aad));
  }
  cipher.setAuthTag(data.subarray(-authTagLength));
  return whole(cipher, data.subarray(0, -authTagLength));
}

/** Derives bits; `length`: how many, undefined for all that the two keys agree on. @throws NotAtOnce */
export function derived(algorithm: Algorithm, given: unknown, length: unknown, usage: string): Buffer {
  const { key } = keyFor(given, algorithm, usage);
  if (algorithm.name === 'ECDH' || algorithm.name === 'X25519') {
    const other = algorithm['public'] as Key | undefined;
    if (other?.algorithm?.name !== (given as Key).algorithm.name || other.type !== 'public') {
      return notAtOnce();
    }
    const secret = diffieHellman({ privateKey: key, publicKey: createPublicKey(keyObject(other).export({ format: 'pem', type: 'spki' })) });
    if (length === null || length === undefined) {
      return secret;
    }
    return typeof length === 'number' && length % 8 === 0 && length / 8 <= secret.length ? secret.subarray(0, length / 8) : notAtOnce();
  }
  if (typeof length !== 'number' || length % 8 !== 0 || length === 0) {
    return notAtOnce();
  }
  const hash = digestName(algorithm['hash']);
  const salt = buffer(algorithm['salt']);
  if (algorithm.name === 'HKDF') {
    return Buffer.from(hkdfSync(hash, key, salt, buffer(algorithm['info']), length / 8));
  }
  const { iterations } = algorithm;
  return algorithm.name === 'PBKDF2' && typeof iterations === 'number' && iterations >= 1
    ? pbkdf2Sync(key.export(), salt, iterations, length / 8, hash)
    : notAtOnce();
}

/** `deriveKey`, at once. */
export function derivedKey([given, base, keyGiven, extractable, usages]: readonly unknown[]): object {
  const bytes = derived(algorithmNamed(given), base, secretLength(algorithmNamed(keyGiven)) * 8, 'deriveKey');
  return secretKey(bytes, keyGiven, extractable, usages);
}
