import type { KeyObject } from 'node:crypto';
import type { NamedFiles, ReadFile } from '../../shared/config/named-files.js';
import { type Chain, DATA, isStored, loadChain, loadKey, loadNamed, TlsFileError } from './pem.js';

/** A certificate with its key, read from their files. */
export interface Identity {
  readonly chain: Chain;
  readonly key: KeyObject;
}

/** The two belong together. */
export const fits = ({ chain, key }: Identity): boolean => chain.certificates[0]!.checkPrivateKey(key);

/** What nginx says of a pair that does not; `call`: what OpenSSL was given it with, for one connection or for all. */
export const mismatch = (key: string, call: 'SSL_CTX_use_PrivateKey' | 'SSL_use_PrivateKey' = 'SSL_CTX_use_PrivateKey'): TlsFileError =>
  new TlsFileError(`${call}("${key}") failed (SSL: error:05800074:x509 certificate routines::key values mismatch)`);

/** A key that asks for a password is kept nowhere but in its file. */
export const isEncrypted = (text: string): boolean =>
  text.includes('BEGIN ENCRYPTED PRIVATE KEY') || text.includes('Proc-Type: 4,ENCRYPTED');

/** Reads certificates, keys and lists that a configuration names. */
export const objectReader =
  (files: NamedFiles): ReadFile =>
  (path) =>
    files.readKept(path, (text) => !isEncrypted(text));

/**
 * Reads a certificate that a configuration names, and its key. Throws {@link TlsFileError} with nginx's line. nginx:
 * ngx_ssl_certificate.
 */
export function configuredIdentity(certificate: string, key: string, passwords: readonly string[], files: NamedFiles): Identity {
  const read = objectReader(files);
  const load = (): Identity => ({
    chain: loadNamed('certificate', certificate, (path) => loadChain(path, read)),
    // What OpenSSL's stores have is not taken over from the configuration before.
    key: loadNamed('certificate key', key, (path) => loadKey(path, passwords, isStored(path) ? files.read : read)),
  });
  const identity = load();
  if (fits(identity)) {
    return identity;
  }
  // One of the two may have been taken over from the configuration before, the other not.
  for (const path of [certificate, key]) {
    if (!path.startsWith(DATA)) {
      files.renew(path);
    }
  }
  const anew = load();
  if (fits(anew)) {
    return anew;
  }
  throw mismatch(key);
}
