import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Paths of a certificate and its key. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** What the tests of TLS need. All leaf certificates are signed by `ca`; `other` is signed by itself. */
export interface Certs {
  readonly dir: string;
  readonly ca: KeyPair;
  /** For localhost, *.example.com and 127.0.0.1, with an RSA key. */
  readonly rsa: KeyPair;
  /** The same names with an ECDSA key. */
  readonly ecdsa: KeyPair;
  /** For example.org. */
  readonly second: KeyPair;
  /** A client's certificate, CN=client. */
  readonly client: KeyPair;
  /** For localhost, and revoked by `crlWithClient`. */
  readonly revoked: KeyPair;
  /** Not signed by `ca`, CN=other. */
  readonly other: KeyPair;
  /** The key of `rsa`, encrypted with the password `secret`. */
  readonly encryptedKey: string;
  /** An empty list of revoked certificates of `ca`, and one that revokes `client` and `revoked`. */
  readonly crl: string;
  readonly crlWithClient: string;
}

// Changes whenever what is made changes; the date bounds the age of what is reused.
const cache = join(tmpdir(), `sluice-test-certs-4-${process.getuid?.() ?? 0}-${new Date().toISOString().slice(0, 10)}`);

/** Makes the certificates with the openssl command, once a day for all tests on the machine; throws without that command. */
export function certs(): Certs {
  if (!existsSync(`${cache}/ca.crt`)) {
    const fresh = mkdtempSync(`${cache}-`);
    makeAll(fresh);
    try {
      renameSync(fresh, cache);
    } catch {
      // Another test process was first.
      rmSync(fresh, { recursive: true, force: true });
    }
  }
  const pair = (name: string): KeyPair => ({ cert: `${cache}/${name}.crt`, key: `${cache}/${name}.key` });
  return {
    dir: cache,
    ca: pair('ca'),
    rsa: pair('rsa'),
    ecdsa: pair('ecdsa'),
    second: pair('second'),
    client: pair('client'),
    revoked: pair('revoked'),
    other: pair('other'),
    encryptedKey: `${cache}/encrypted.key`,
    crl: `${cache}/empty.crl`,
    crlWithClient: `${cache}/client.crl`,
  };
}

/** The text of a file, for node:tls. */
export const pem = (path: string): string => readFileSync(path, 'latin1');

const RSA = ['-newkey', 'rsa:2048'];
const ECDSA = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
const NAMES = 'subjectAltName=DNS:localhost,DNS:example.com,DNS:*.example.com,IP:127.0.0.1';

function makeAll(dir: string): void {
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  const selfSigned = (name: string, ...more: string[]): void =>
    openssl(
      'req',
      '-x509',
      '-nodes',
      '-days',
      '30',
      ...ECDSA,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.crt`,
      '-subj',
      `/CN=${name}`,
      ...more,
    );
  const signed = (name: string, key: readonly string[], subject: string, extension: string): void => {
    writeFileSync(`${dir}/${name}.ext`, `${extension}\nbasicConstraints=CA:FALSE\n`);
    openssl('req', '-nodes', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', subject);
    openssl('ca', '-batch', '-config', 'ca.conf', '-extfile', `${name}.ext`, '-in', `${name}.csr`, '-out', `${name}.crt`);
  };
  const revocationList = (name: string): void => openssl('ca', '-batch', '-config', 'ca.conf', '-gencrl', '-out', name);

  mkdirSync(`${dir}/issued`);
  writeFileSync(`${dir}/index.txt`, '');
  writeFileSync(`${dir}/serial`, '1000\n');
  writeFileSync(`${dir}/crlnumber`, '1000\n');
  writeFileSync(
    `${dir}/ca.conf`,
    `[ca]\ndefault_ca=test\n[test]\ndir=.\nnew_certs_dir=./issued\ndatabase=./index.txt\nserial=./serial\ncrlnumber=./crlnumber\n` +
      `certificate=./ca.crt\nprivate_key=./ca.key\ndefault_md=sha256\ndefault_days=30\ndefault_crl_days=30\npolicy=any\n` +
      `unique_subject=no\nemail_in_dn=no\n[any]\ncommonName=supplied\norganizationName=optional\n`,
  );
  selfSigned('ca', '-addext', 'keyUsage=critical,keyCertSign,cRLSign');
  selfSigned('other');
  signed('rsa', RSA, '/CN=localhost', NAMES);
  signed('ecdsa', ECDSA, '/CN=localhost', NAMES);
  signed('second', ECDSA, '/CN=example.org', 'subjectAltName=DNS:example.org');
  signed('client', ECDSA, '/O=Tests/CN=client', 'extendedKeyUsage=clientAuth');
  signed('revoked', ECDSA, '/CN=localhost', 'subjectAltName=DNS:localhost');
  openssl('rsa', '-aes128', '-passout', 'pass:secret', '-in', 'rsa.key', '-out', 'encrypted.key');
  revocationList('empty.crl');
  for (const name of ['client', 'revoked']) openssl('ca', '-batch', '-config', 'ca.conf', '-revoke', `${name}.crt`);
  revocationList('client.crl');
}
