import { constants, createHmac, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from 'node:crypto';

/** A key that tests sign with, and what a set has of it. */
export interface TestKey {
  readonly alg: string;
  readonly secret: KeyObject | Buffer;
  readonly jwk: JsonWebKey & { readonly kid?: string };
}

/** A secret for HS256 and its kin. */
export function sharedKey(kid: string, secret: string | Buffer, alg = 'HS256'): TestKey {
  const bytes = Buffer.from(secret as string);
  return { alg, secret: bytes, jwk: { kty: 'oct', kid, k: bytes.toString('base64url') } };
}

/** A new pair of keys for an algorithm. */
export function newKey(kid: string, alg: string): TestKey {
  const { privateKey, publicKey } = pairFor(alg);
  return { alg, secret: privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid } };
}

function pairFor(alg: string): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  if (/^[RP]S/.test(alg)) {
    return generateKeyPairSync('rsa', { modulusLength: 2048 });
  }
  const curve = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[alg];
  return curve === undefined ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: curve });
}

/** The text of a JSON Web Key Set. */
export const keySet = (...keys: readonly TestKey[]): string => JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });

export const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** A signed token. Texts in place of the claims or the header are taken as they are. */
export function token(key: TestKey, claims: object | string, header: object | string = {}): string {
  const head = typeof header === 'string' ? header : JSON.stringify({ alg: key.alg, kid: key.jwk.kid, ...header });
  const data = `${encode(head)}.${encode(claims)}`;
  return `${data}.${signatureOf(key, Buffer.from(data)).toString('base64url')}`;
}

/** A signature over any bytes. */
export function signatureOf({ alg, secret }: TestKey, data: Buffer): Buffer {
  const hash = `sha${alg.slice(2)}`;
  if (Buffer.isBuffer(secret)) {
    return createHmac(hash, secret).update(data).digest();
  }
  if (alg === 'EdDSA') {
    return sign(null, data, secret);
  }
  const padding = alg.startsWith('PS') ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {};
  return sign(hash, data, { key: secret, dsaEncoding: 'ieee-p1363', ...padding });
}
