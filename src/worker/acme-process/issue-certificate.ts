// The only file that imports @peculiar/x509, and loads it with the first certificate.
import { createPrivateKey, createPublicKey, randomBytes, webcrypto } from 'node:crypto';

import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import type * as X509Package from '@peculiar/x509';
import type { CertificatePair } from '../acme/acme-zone.js';
import type { Identifier } from '../acme/identifier.js';

/** How far (milliseconds) clocks of clients may be behind. */
const LAG = 3600 * 1000;
const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

type SigningAlgorithm = { readonly name: string; readonly namedCurve?: string; readonly hash: string };

let loaded: typeof X509Package | undefined;

/** The package. Its files may be out of reach of the user that the process becomes: who may need it loads it before. */
export function x509Package(): typeof X509Package {
  if (loaded === undefined) {
    loaded = createRequire(import.meta.url)('@peculiar/x509') as typeof X509Package;
    loaded.cryptoProvider.set(webcrypto as never);
  }
  return loaded;
}

/** Makes a certificate at which chains begin, in PEM. `key`: in PEM; `life`: milliseconds. */
export async function makeRoot(key: string, life: number): Promise<string> {
  const x509 = x509Package();
  const algorithm = algorithmOf(key);
  const name = `CN=sluice internal CA of ${hostname().replaceAll(/[^\w.-]/g, '-')}`;
  const publicKey = await importPublic(key, algorithm);
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(life),
    serialNumber: serialNumber(),
    subject: name,
    issuer: name,
    signingAlgorithm: algorithm,
    signingKey: await importPrivate(key, algorithm),
    publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** Makes a certificate for a server, in PEM with its root behind it. */
export async function issueCertificate(
  root: CertificatePair,
  identifiers: readonly Identifier[],
  key: string,
  life: number,
): Promise<string> {
  const x509 = x509Package();
  const issuer = new x509.X509Certificate(root.chain);
  const rootAlgorithm = algorithmOf(root.key);
  const publicKey = await importPublic(key, algorithmOf(key));
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(life),
    serialNumber: serialNumber(),
    // Clients look at the names below; this one is for people.
    subject: new x509.Name([{ CN: [identifiers[0]!.value.slice(0, 64)] }]),
    issuer: issuer.subjectName,
    signingAlgorithm: rootAlgorithm,
    signingKey: await importPrivate(root.key, rootAlgorithm),
    publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(identifiers.map(({ type, value }) => ({ type, value }))),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n${root.chain}`;
}

function validity(life: number): { readonly notBefore: Date; readonly notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - LAG), notAfter: new Date(now + life) };
}

/** A positive number, in hexadecimal. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0]! &= 0x7f;
  bytes[0]! |= 0x40;
  return bytes.toString('hex');
}

function algorithmOf(key: string): SigningAlgorithm {
  const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(key);
  return asymmetricKeyType === 'rsa'
    ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    : { name: 'ECDSA', namedCurve: CURVES[asymmetricKeyDetails?.namedCurve ?? '']!, hash: 'SHA-256' };
}

function importPrivate(key: string, algorithm: SigningAlgorithm): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithm as webcrypto.EcKeyImportParams, false, ['sign']);
}

function importPublic(key: string, algorithm: SigningAlgorithm): Promise<webcrypto.CryptoKey> {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return webcrypto.subtle.importKey('spki', der, algorithm as webcrypto.EcKeyImportParams, true, ['verify']);
}
