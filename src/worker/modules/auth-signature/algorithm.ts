import { suits } from '../../jose/jws.js';
import type { Key } from '../../jose/key.js';
import { SIGNATURE_ALGORITHMS } from '../../jose/signature.js';

/** The algorithms of RFC 9421, section 3.3, by what JSON Web Signature calls the same thing. */
const ALGORITHMS: readonly (readonly [name: string, jws: string])[] = [
  ['hmac-sha256', 'HS256'],
  ['ed25519', 'Ed25519'],
  ['ecdsa-p256-sha256', 'ES256'],
  ['ecdsa-p384-sha384', 'ES384'],
  // Before the other one for RSA: a key that does not say what it is for makes the better kind.
  ['rsa-pss-sha512', 'PS512'],
  ['rsa-v1_5-sha256', 'RS256'],
];

/**
 * Whether a signature over a text is one of a key. What algorithm it is, the key says; a signature may only say the same: `said`, empty
 * where it does not, chooses between the two of an RSA key that says nothing.
 */
export function isSignedBy(key: Key, said: string, text: string, signature: Buffer): boolean {
  if (!key.mayBeUsedFor('sig')) {
    return false;
  }
  for (const [name, jws] of ALGORITHMS) {
    const algorithm = SIGNATURE_ALGORITHMS.get(jws)!;
    if (algorithm.fits(key) && suits(key, jws) && (said === '' || said === name)) {
      try {
        return algorithm.verify(key, Buffer.from(text, 'latin1'), signature);
      } catch {
        // OpenSSL does not take the key for this.
        return false;
      }
    }
  }
  return false;
}
