import type { X509Certificate } from 'node:crypto';
import type { ClientHello } from './client-hello.js';
import { cipherName } from './names.js';

/** Algorithms of signatures in TLS 1.3 by the kind of key they are for: the type, and the curve of ECDSA. */
const SIGNERS: Readonly<Record<number, string>> = {
  1027: 'ec prime256v1',
  1283: 'ec secp384r1',
  1539: 'ec secp521r1',
  2052: 'rsa',
  2053: 'rsa',
  2054: 'rsa',
  2055: 'ed25519',
  2056: 'ed448',
  2057: 'rsa-pss',
  2058: 'rsa-pss',
  2059: 'rsa-pss',
};

/** OpenSSL's own order of those algorithms. */
const PREFERENCE = [0x0403, 0x0503, 0x0603, 0x0807, 0x0808, 0x0809, 0x080a, 0x080b, 0x0804, 0x0805, 0x0806];

function kindOf({ publicKey }: X509Certificate): string {
  const { namedCurve } = publicKey.asymmetricKeyDetails ?? {};
  return publicKey.asymmetricKeyType === 'ec' ? `ec ${namedCurve}` : String(publicKey.asymmetricKeyType);
}

/**
 * Which of a server's certificates OpenSSL is going to show a client, as an index; undefined when that cannot be told. Node asks for the
 * response to staple before it is known, and a response for another certificate would be worse than none.
 */
export function chosenCertificate(
  certificates: readonly X509Certificate[],
  hello: ClientHello | undefined,
  preferServer: boolean,
  tls13: boolean,
): number | undefined {
  if (certificates.length === 1) {
    return 0;
  }
  if (hello === undefined) {
    return undefined;
  }
  const kinds = certificates.map(kindOf);
  // A client that speaks TLS 1.3 names one of its suites.
  if (tls13 && hello.ciphers.some((code) => code >> 8 === 0x13)) {
    const offered = hello.signatureAlgorithms;
    const order = preferServer ? PREFERENCE.filter((algorithm) => offered.includes(algorithm)) : offered;
    for (const algorithm of order) {
      const found = kinds.indexOf(SIGNERS[algorithm] ?? '');
      if (found >= 0) {
        return found;
      }
    }
    return undefined;
  }
  const usable = kinds.map((kind) => hello.ciphers.some((code) => signs(cipherName(code), kind)));
  if (usable.filter(Boolean).length === 1) {
    return usable.indexOf(true);
  }
  if (preferServer) {
    return undefined;
  }
  for (const code of hello.ciphers) {
    const found = kinds.findIndex((kind) => signs(cipherName(code), kind));
    if (found >= 0) {
      return found;
    }
  }
  return undefined;
}

/** Whether a suite of TLS 1.2 is for such a key. */
function signs(cipher: string, kind: string): boolean {
  if (cipher.startsWith('TLS_') || cipher.startsWith('0x')) {
    return false;
  }
  return cipher.includes('ECDSA') === (kind !== 'rsa' && kind !== 'rsa-pss');
}
