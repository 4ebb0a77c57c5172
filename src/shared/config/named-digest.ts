import { hash, X509Certificate } from 'node:crypto';

/** What is remembered of a file that settings name, such as a certificate or its key: enough to see that it has become another one. */
export interface NamedDigest {
  /** SHA-256 of the content. */
  readonly sha256: string;
  /** For certificates, the first one of the file: for whom it is, and until when it is valid (ISO 8601). */
  readonly certificate?: { readonly subject: string; readonly until: string };
}

/** Digests of the contents (latin1) of files, by their paths. */
export function namedDigests(texts: Readonly<Record<string, string>>): Record<string, NamedDigest> {
  return Object.fromEntries(
    Object.entries(texts).map(([path, text]) => {
      const sha256 = hash('sha256', Buffer.from(text, 'latin1'), 'hex');
      const certificate = certificateIn(text);
      return [path, certificate === undefined ? { sha256 } : { sha256, certificate }];
    }),
  );
}

function certificateIn(text: string): NamedDigest['certificate'] {
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    return undefined;
  }
  try {
    const { subject, subjectAltName, validTo } = new X509Certificate(Buffer.from(text, 'latin1'));
    const names = subjectAltName?.replace(/(DNS|IP Address):/g, '') ?? subject?.replaceAll('\n', ', ') ?? '';
    return { subject: names, until: new Date(validTo).toISOString() };
  } catch {
    return undefined;
  }
}
