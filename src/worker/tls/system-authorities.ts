import { readFileSync } from 'node:fs';

/** Where systems keep the certificates of the authorities that they trust, in the order of their spread. */
const FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** The system's own authorities as PEM; undefined where it has none, and those of Node serve. */
export function systemAuthorities(): string | undefined {
  for (const file of FILES) {
    try {
      return readFileSync(file, 'latin1');
    } catch {
      // The next one.
    }
  }
  return undefined;
}
