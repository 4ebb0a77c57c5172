import { X509Certificate } from 'node:crypto';
import type { CertificatePair } from '../acme/acme-zone.js';
import type { Identifier } from '../acme/identifier.js';
import { belongTogether } from '../acme/state-folder.js';
import { derElements, oidText } from '../tls/der.js';
import type { Span } from './schedule.js';

/** Throws an Error unless a certificate is what was asked for: a CA's mistake must not replace what works. */
export function checkCertificate(pair: CertificatePair, identifiers: readonly Identifier[]): void {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pair.chain);
  } catch (error) {
    throw new Error(`the CA sent no certificate (${(error as Error).message})`);
  }
  if (!belongTogether(pair)) {
    throw new Error('the certificate that the CA sent is for another key');
  }
  if (Date.parse(certificate.validTo) <= Date.now()) {
    throw new Error(`the certificate that the CA sent has expired on ${certificate.validTo}`);
  }
  const missing = identifiers.find((identifier) => !covers(certificate, identifier));
  if (missing !== undefined) {
    throw new Error(`the certificate that the CA sent is not for "${missing.value}"`);
  }
}

function covers(certificate: X509Certificate, { type, value }: Identifier): boolean {
  if (type === 'ip') {
    return certificate.checkIP(value) !== undefined;
  }
  // What stands for the first label of a wildcard.
  return certificate.checkHost(value.replace(/^\*\./, 'x.')) !== undefined;
}

/** From when to when a certificate is valid. */
export function certificateSpan(chain: string): Span {
  const { validFrom, validTo } = new X509Certificate(chain);
  return { start: Date.parse(validFrom), end: Date.parse(validTo) };
}

const AUTHORITY_KEY_ID = '2.5.29.35';
const EXTENSIONS = 0xa3;
const KEY_ID = 0x80;

/** How renewal information names a certificate (RFC 9773, section 4.1); undefined for one that does not name the key of its CA. */
export function renewalId(chain: string): string | undefined {
  const [outer] = derElements(new X509Certificate(chain).raw);
  const [tbs] = derElements(outer!.content);
  const fields = derElements(tbs!.content).filter(({ tag }) => tag !== 0xa0);
  const [list] = derElements(fields.find(({ tag }) => tag === EXTENSIONS)?.content ?? Buffer.alloc(0));
  for (const { content } of derElements(list?.content ?? Buffer.alloc(0))) {
    const parts = derElements(content);
    if (oidText(parts[0]!.content) !== AUTHORITY_KEY_ID) {
      continue;
    }
    const [sequence] = derElements(parts[parts.length - 1]!.content);
    const keyId = derElements(sequence?.content ?? Buffer.alloc(0)).find(({ tag }) => tag === KEY_ID);
    return keyId && `${keyId.content.toString('base64url')}.${fields[0]!.content.toString('base64url')}`;
  }
  return undefined;
}
