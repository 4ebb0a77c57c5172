import type { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import type { CipherState } from '../net/tls-binding.js';
import { derElements, oidText } from './der.js';

/** The certificate that a connection's client was shown. */
export function ownCertificate(cipher: CipherState): X509Certificate | undefined {
  // Node makes no certificate of its native one but in this method, which needs nothing else of a socket.
  const { getX509Certificate } = TLSSocket.prototype;
  return getX509Certificate.call({ _handle: cipher } as unknown as TLSSocket);
}

/** OpenSSL's short names of algorithms that sign certificates. */
const NAMES: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.4': 'RSA-MD5',
  '1.2.840.113549.1.1.5': 'RSA-SHA1',
  '1.2.840.113549.1.1.10': 'RSASSA-PSS',
  '1.2.840.113549.1.1.11': 'RSA-SHA256',
  '1.2.840.113549.1.1.12': 'RSA-SHA384',
  '1.2.840.113549.1.1.13': 'RSA-SHA512',
  '1.2.840.10045.4.1': 'ecdsa-with-SHA1',
  '1.2.840.10045.4.3.2': 'ecdsa-with-SHA256',
  '1.2.840.10045.4.3.3': 'ecdsa-with-SHA384',
  '1.2.840.10045.4.3.4': 'ecdsa-with-SHA512',
  '1.3.101.112': 'ED25519',
  '1.3.101.113': 'ED448',
};

/** What signed a certificate; undefined for what is not in the table. */
export function signatureName({ raw }: X509Certificate): string | undefined {
  const [certificate] = derElements(raw);
  const algorithm = certificate === undefined ? undefined : derElements(certificate.content)[1];
  const id = algorithm === undefined ? undefined : derElements(algorithm.content)[0];
  return id === undefined ? undefined : NAMES[oidText(id.content)];
}
