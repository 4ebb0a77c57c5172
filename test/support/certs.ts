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

/** Of the run, where scripts/test says so; otherwise of this process. */
let made: string | undefined;

/** Makes the certificates with the openssl command, once for all tests of a run, whose folder goes with it; throws without that command. */
export function certs(): Certs {
  made ??= makeOnce();
  const dir = made;
  const pair = (name: string): KeyPair => ({ cert: `${dir}/${name}.crt`, key: `${dir}/${name}.key` });
  return {
    dir,
    ca: pair('ca'),
    rsa: pair('rsa'),
    ecdsa: pair('ecdsa'),
    second: pair('second'),
    client: pair('client'),
    revoked: pair('revoked'),
    other: pair('other'),
    encryptedKey: `${dir}/encrypted.key`,
    crl: `${dir}/empty.crl`,
    crlWithClient: `${dir}/client.crl`,
  };
}

function makeOnce(): string {
  const run = process.env['SLUICE_TEST_RUN'];
  const fresh = mkdtempSync(join(run ?? tmpdir(), 'sluice-certs-'));
  if (run === undefined) {
    process.once('exit', () => rmSync(fresh, { recursive: true, force: true }));
    makeAll(fresh);
    return fresh;
  }
  const shared = `${run}/certs`;
  if (!existsSync(shared)) {
    makeAll(fresh);
    try {
      renameSync(fresh, shared);
      return shared;
    } catch {
      // Another test process was first.
    }
  }
  rmSync(fresh, { recursive: true, force: true });
  return shared;
}

/** The text of a file, for node:tls. */
export const pem = (path: string): string => readFileSync(path, 'latin1');

const RSA = ['-newkey', 'rsa:2048'];
const ECDSA = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
const NAMES = 'subjectAltName=DNS:localhost,DNS:example.com,DNS:*.example.com,IP:127.0.0.1';

const DAY = 24 * 60 * 60 * 1000;

/** The time so many milliseconds from now, as openssl's configuration has it. */
const asn1Time = (after: number): string => new Date(Date.now() + after).toISOString().replace(/[-:T]|\.\d+/g, '');

function makeAll(dir: string): void {
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  /** Makes a certificate that the authority has signed, or its own key. */
  const make = (name: string, key: readonly string[], subject: string, extension: string, ...signer: string[]): void => {
    writeFileSync(`${dir}/${name}.ext`, extension);
    openssl('req', '-nodes', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', subject);
    openssl('ca', '-batch', '-config', 'ca.conf', '-extfile', `${name}.ext`, '-in', `${name}.csr`, '-out', `${name}.crt`, ...signer);
  };
  const selfSigned = (name: string, ...extensions: string[]): void =>
    make(
      name,
      ECDSA,
      `/CN=${name}`,
      ['subjectKeyIdentifier=hash', 'basicConstraints=critical,CA:TRUE', ...extensions].join('\n'),
      '-selfsign',
      '-keyfile',
      `${name}.key`,
    );
  const signed = (name: string, key: readonly string[], subject: string, extension: string): void =>
    make(name, key, subject, `${extension}\nbasicConstraints=CA:FALSE`);
  const revocationList = (name: string): void => openssl('ca', '-batch', '-config', 'ca.conf', '-gencrl', '-out', name);

  // Tests ask what holds some minutes ago.
  const yesterday = asn1Time(-DAY);
  const nextMonth = asn1Time(30 * DAY);
  mkdirSync(`${dir}/issued`);
  writeFileSync(`${dir}/index.txt`, '');
  writeFileSync(`${dir}/serial`, '1000\n');
  writeFileSync(`${dir}/crlnumber`, '1000\n');
  writeFileSync(
    `${dir}/ca.conf`,
    `[ca]\ndefault_ca=test\n[test]\ndir=.\nnew_certs_dir=./issued\ndatabase=./index.txt\nserial=./serial\ncrlnumber=./crlnumber\n` +
      `certificate=./ca.crt\nprivate_key=./ca.key\ndefault_md=sha256\ndefault_startdate=${yesterday}\ndefault_enddate=${nextMonth}\ndefault_crl_days=30\npolicy=any\n` +
      `unique_subject=no\nemail_in_dn=no\n[any]\ncommonName=supplied\norganizationName=optional\n`,
  );
  selfSigned('ca', 'keyUsage=critical,keyCertSign,cRLSign');
  selfSigned('other');
  // A responder knows what the authority gave out; those two are nobody's.
  writeFileSync(`${dir}/index.txt`, '');
  signed('rsa', RSA, '/CN=localhost', NAMES);
  signed('ecdsa', ECDSA, '/CN=localhost', NAMES);
  signed('second', ECDSA, '/CN=example.org', 'subjectAltName=DNS:example.org');
  signed('client', ECDSA, '/O=Tests/CN=client', 'extendedKeyUsage=clientAuth');
  signed('revoked', ECDSA, '/CN=localhost', 'subjectAltName=DNS:localhost');
  openssl('rsa', '-aes128', '-passout', 'pass:secret', '-in', 'rsa.key', '-out', 'encrypted.key');
  revocationList('empty.crl');
  for (const name of ['client', 'revoked']) {
    openssl('ca', '-batch', '-config', 'ca.conf', '-revoke', `${name}.crt`);
  }
  revocationList('client.crl');
}
