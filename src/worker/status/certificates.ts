import { nativeText } from '../../shared/text/native-text.js';
import { nameSlot } from '../http/request/server-names.js';
import { tlsSlot } from '../tls/server-tls.js';
import type { StatusSource } from './source.js';

/** A certificate that clients get. */
export interface CertificateReport {
  /** The first name of the first server that uses it. */
  readonly server: string;
  /** What it is made out to: its common name, or its first alternative name. */
  readonly subject: string;
  readonly issuer: string;
  readonly serial: string;
  /** Milliseconds of the wall clock. */
  readonly notAfter: number;
}

const commonName = (text: string): string => /(?:^|\n)CN=([^\n]*)/.exec(text)?.[1] ?? '';

/** The certificates of all servers, each once; those that are read for each handshake are not known. */
export function takeCertificates({ http }: StatusSource): CertificateReport[] {
  const all = new Map<string, CertificateReport>();
  for (const server of http.servers) {
    for (const certificate of server.conf(tlsSlot).certificates) {
      if (all.has(certificate.fingerprint256)) {
        continue;
      }
      all.set(certificate.fingerprint256, {
        server: nativeText(server.conf(nameSlot).serverName || '_'),
        subject: commonName(certificate.subject ?? '') || (/DNS:([^,]+)/.exec(certificate.subjectAltName ?? '')?.[1] ?? ''),
        issuer: commonName(certificate.issuer ?? ''),
        serial: certificate.serialNumber,
        notAfter: Date.parse(certificate.validTo),
      });
    }
  }
  return [...all.values()];
}
