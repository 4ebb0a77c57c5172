import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

/** A kind of private key, as `ecdsa:256` and `rsa:2048` name it. `size` is in bits. */
export interface KeyKind {
  readonly algorithm: 'ecdsa' | 'rsa';
  readonly size: number;
}

export const USUAL_KEY: KeyKind = { algorithm: 'ecdsa', size: 256 };

const CURVES: Readonly<Record<number, string>> = { 256: 'P-256', 384: 'P-384', 521: 'P-521' };
const RSA_SIZES = [2048, 3072, 4096];

/**
 * Reads `ALGORITHM[:SIZE]`. Returns undefined for another algorithm, which may be the name of a file, and nginx-acme's complaint for a
 * wrong size.
 */
export function parseKeyKind(text: string): KeyKind | string | undefined {
  const [algorithm, given] = text.split(/:(.*)/s) as [string, string | undefined];
  if (algorithm === 'ecdsa') {
    const size = Number(given ?? 256);
    return given !== undefined && CURVES[size]?.slice(2) !== given ? 'unsupported curve' : { algorithm, size };
  }
  if (algorithm === 'rsa') {
    const size = Number(given ?? 2048);
    return !RSA_SIZES.includes(size) || String(size) !== (given ?? '2048') ? 'unsupported key size' : { algorithm, size };
  }
  return undefined;
}

const generate = promisify(generateKeyPair) as unknown as (type: string, options: object) => Promise<{ readonly privateKey: string }>;

/** Makes a private key, as PKCS #8 in PEM, in a thread of its own. */
export async function generateKey({ algorithm, size }: KeyKind): Promise<string> {
  const encodings = { publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: { type: 'pkcs8', format: 'pem' } };
  const { privateKey } =
    algorithm === 'rsa'
      ? await generate('rsa', { ...encodings, modulusLength: size })
      : await generate('ec', { ...encodings, namedCurve: CURVES[size]! });
  return privateKey;
}
