import type { KeyObject } from 'node:crypto';

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };
const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];

/** The JWS algorithm that a private key signs with: the one asked for, or the usual one of its kind; undefined: it cannot. */
export function keyAlgorithm(key: KeyObject, asked: string | undefined): string | undefined {
  const able =
    key.asymmetricKeyType === 'rsa'
      ? RSA
      : key.asymmetricKeyType === 'ec'
        ? [CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? '']
        : key.asymmetricKeyType === 'ed25519'
          ? ['Ed25519', 'EdDSA']
          : [];
  return asked === undefined ? able[0] || undefined : able.find((name) => name === asked);
}

/** The parameters of an algorithm for WebCrypto. */
export function importParameters(algorithm: string): { name: string; hash?: string; namedCurve?: string } {
  const bits = algorithm.slice(2);
  switch (algorithm.slice(0, 2)) {
    case 'RS':
      return { name: 'RSASSA-PKCS1-v1_5', hash: `SHA-${bits}` };
    case 'PS':
      return { name: 'RSA-PSS', hash: `SHA-${bits}` };
    case 'ES':
      return { name: 'ECDSA', namedCurve: bits === '512' ? 'P-521' : `P-${bits}` };
    default:
      return { name: 'Ed25519' };
  }
}
