import { constants, createHmac, timingSafeEqual, verify } from 'node:crypto';
import type { Key } from './key.js';

/** An algorithm of JSON Web Signature: which keys it takes, and how a signature is checked. */
export interface SignatureAlgorithm {
  fits(key: Key): boolean;
  verify(key: Key, data: Buffer, signature: Buffer): boolean;
}

function hmac(hash: string): SignatureAlgorithm {
  return {
    fits: (key) => key.type === 'oct',
    verify(key, data, signature) {
      const expected = createHmac(hash, key.open).update(data).digest();
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    },
  };
}

const rsa = (hash: string): SignatureAlgorithm => ({
  fits: (key) => key.type === 'RSA',
  verify: (key, data, signature) => verify(hash, data, key.open, signature),
});

const pss = (hash: string): SignatureAlgorithm => ({
  fits: (key) => key.type === 'RSA',
  verify: (key, data, signature) =>
    verify(
      hash,
      data,
      { key: key.open, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
      signature,
    ),
});

/** `size`: bytes of each of the two numbers of a signature, which are never written shorter or longer. */
const ecdsa = (hash: string, curve: string, size: number): SignatureAlgorithm => ({
  fits: (key) => key.type === 'EC' && key.curve === curve,
  verify: (key, data, signature) =>
    signature.length === 2 * size && verify(hash, data, { key: key.open, dsaEncoding: 'ieee-p1363' }, signature),
});

const eddsa = (...curves: readonly string[]): SignatureAlgorithm => ({
  fits: (key) => key.type === 'OKP' && curves.includes(key.curve),
  verify: (key, data, signature) => verify(null, data, key.open, signature),
});

/** All that are accepted. `none` is not among them, and each takes keys of one type only. */
export const SIGNATURE_ALGORITHMS: ReadonlyMap<string, SignatureAlgorithm> = new Map([
  ['HS256', hmac('sha256')],
  ['HS384', hmac('sha384')],
  ['HS512', hmac('sha512')],
  ['RS256', rsa('sha256')],
  ['RS384', rsa('sha384')],
  ['RS512', rsa('sha512')],
  ['PS256', pss('sha256')],
  ['PS384', pss('sha384')],
  ['PS512', pss('sha512')],
  ['ES256', ecdsa('sha256', 'P-256', 32)],
  ['ES384', ecdsa('sha384', 'P-384', 48)],
  ['ES512', ecdsa('sha512', 'P-521', 66)],
  ['EdDSA', eddsa('Ed25519', 'Ed448')],
  // The same by the names of RFC 9864.
  ['Ed25519', eddsa('Ed25519')],
  ['Ed448', eddsa('Ed448')],
]);
