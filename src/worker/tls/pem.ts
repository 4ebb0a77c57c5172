import { createPrivateKey, type KeyObject, type PrivateKeyInput, X509Certificate } from 'node:crypto';
import { type ReadFile, readNow } from '../../shared/config/named-files.js';
import { errnoCode } from '../../shared/system/errno.js';

/** Why a certificate, key or list cannot be used, in the words of nginx and OpenSSL. */
export class TlsFileError extends Error {}

/** A variable that names a certificate says, by `data:` alone, that there is none yet. */
export class NoCertificateYet extends Error {}

/** What names of certificates and keys begin with that are the text itself. */
export const DATA = 'data:';
/** What names of keys begin with for which OpenSSL looks in a store of its own. */
const STORE = 'store:';
const ENGINE = 'engine:';

/** Whether the name of a key is no path. nginx: ngx_ssl_cache_init_key. */
export const isStored = (name: string): boolean => name.startsWith(STORE) || name.startsWith(ENGINE);
const NO_START = 'error:0480006C:PEM routines::no start line:Expecting: ';

/** The text of a file, or what stands behind `data:`. nginx: ngx_ssl_cache_create_bio. */
function readText(path: string, read: ReadFile = readNow): string {
  if (path.startsWith(DATA)) {
    return path.slice(DATA.length);
  }
  try {
    return read(path);
  } catch (error) {
    // A folder can be opened, and nothing can be read from it.
    if (errnoCode(error) === 'EISDIR') {
      return '';
    }
    throw new TlsFileError(`BIO_new_file() failed (SSL: ${openSslFailure(error, path, 'r')})`);
  }
}

/** Runs a reader and puts nginx's words before its complaint. */
export function loadNamed<T>(what: string, path: string, load: (path: string) => T): T {
  try {
    return load(path);
  } catch (error) {
    if (!(error instanceof TlsFileError)) {
      throw error;
    }
    throw new TlsFileError(`cannot load ${what} "${path}": ${error.message}`);
  }
}

/** OpenSSL's words for a file that cannot be opened. */
export function openSslFailure(error: unknown, path: string, mode: string): string {
  const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
  const bio = missing ? 'error:10000080:BIO routines::no such file' : 'error:10080002:BIO routines::system lib';
  return `${systemFailure(error)}:calling fopen(${path}, ${mode}) ${bio}`;
}

/** ... and for one that is not found. */
const openSslStatFailure = (error: unknown, path: string): string => `${systemFailure(error)}:calling stat(${path})`;

function systemFailure(error: unknown): string {
  const { code, errno } = error as NodeJS.ErrnoException;
  const number = Math.abs(errno ?? 5)
    .toString(16)
    .toUpperCase()
    .padStart(6, '0');
  const text = code === 'ENOENT' ? 'No such file or directory' : code === 'EACCES' ? 'Permission denied' : 'Is a directory';
  return `error:80${number}:system library::${text}`;
}

/** The blocks of some labels in a text, each with its BEGIN and END lines. */
function pemBlocks(text: string, labels: string): string[] {
  return text.match(new RegExp(`-----BEGIN (${labels})-----[^]*?-----END \\1-----`, 'g')) ?? [];
}

const CERTIFICATE = '(?:X509 |TRUSTED )?CERTIFICATE';

/** A certificate with what follows it in its file. */
export interface Chain {
  /** All certificates of the file, one PEM text after the other. */
  readonly pem: string;
  readonly certificates: readonly X509Certificate[];
}

/** Reads a certificate and its chain. nginx: ngx_ssl_cache_cert_create. */
export function loadChain(path: string, read?: ReadFile): Chain {
  const blocks = pemBlocks(readText(path, read), CERTIFICATE);
  if (blocks.length === 0) {
    throw new TlsFileError(`PEM_read_bio_X509_AUX() failed (SSL: ${NO_START}TRUSTED CERTIFICATE)`);
  }
  const certificates = blocks.map((block, i) => {
    try {
      return new X509Certificate(withoutTrust(block));
    } catch (error) {
      throw new TlsFileError(`PEM_read_bio_X509${i === 0 ? '_AUX' : ''}() failed (SSL: ${(error as Error).message})`);
    }
  });
  return { pem: `${blocks.join('\n')}\n`, certificates };
}

/** Reads certificates that clients or backends are checked with, each once. nginx: ngx_ssl_cache_ca_create. */
export function loadAuthorities(path: string, read?: ReadFile): X509Certificate[] {
  const { certificates } = loadChain(path, read);
  const seen = new Set<string>();
  return certificates.filter(({ fingerprint256 }) => !seen.has(fingerprint256) && seen.add(fingerprint256));
}

/** Reads lists of revoked certificates. nginx: ngx_ssl_cache_crl_create. */
export function loadRevocations(path: string, read?: ReadFile): string[] {
  const blocks = pemBlocks(readText(path, read), 'X509 CRL');
  if (blocks.length === 0) {
    throw new TlsFileError(`PEM_read_bio_X509_CRL() failed (SSL: ${NO_START}X509 CRL)`);
  }
  return blocks;
}

/** Reads a private key with the first password that fits. nginx: ngx_ssl_cache_pkey_create. */
export function loadKey(path: string, passwords: readonly string[], read?: ReadFile): KeyObject {
  if (path.startsWith(ENGINE)) {
    const whole = path.includes(':', ENGINE.length);
    throw new TlsFileError(whole ? 'loading "engine:..." certificate keys is not supported' : 'invalid syntax');
  }
  if (path.startsWith(STORE)) {
    return loadStored(path.slice(STORE.length), passwords, read);
  }
  const key = firstKey(readText(path, read), passwords);
  if (typeof key === 'string') {
    throw new TlsFileError(`PEM_read_bio_PrivateKey() failed (SSL: ${key})`);
  }
  return key;
}

/** The first key of a text, or why there is none. */
function firstKey(text: string, passwords: readonly string[]): KeyObject | string {
  const block = pemBlocks(text, '(?:RSA |EC |DSA |ENCRYPTED )?PRIVATE KEY')[0];
  if (block === undefined) {
    return 'error:1E08010C:DECODER routines::unsupported:No supported data to decode. Input type: PEM';
  }
  return opened({ key: block }, passwords);
}

/** A key, opened with the first password that fits, or why none does. */
function opened(input: PrivateKeyInput, passwords: readonly string[]): KeyObject | string {
  let last = '';
  for (const passphrase of passwords.length === 0 ? [undefined] : passwords) {
    try {
      return createPrivateKey({ ...input, ...(passphrase === undefined ? {} : { passphrase: Buffer.from(passphrase, 'latin1') }) });
    } catch (error) {
      last = (error as Error).message;
    }
  }
  return last;
}

const DER_FORMS = ['pkcs8', 'pkcs1', 'sec1'] as const;

/** Reads a key of a store of OpenSSL's: of files, in PEM or DER. Other stores come with modules that Node's OpenSSL has not. */
function loadStored(uri: string, passwords: readonly string[], read: ReadFile = readNow): KeyObject {
  const notOpened = (reason: string): TlsFileError =>
    new TlsFileError(`OSSL_STORE_open() failed (SSL: error:16000069:STORE routines::unregistered scheme:scheme=file ${reason})`);
  const [, scheme = '', authority, named = uri] = /^(file:)(?:\/\/([^/]*))?(.*)$/is.exec(uri) ?? [];
  if (authority !== undefined && authority !== '' && authority.toLowerCase() !== 'localhost') {
    throw notOpened('error:1C8000DF:Provider routines::uri authority unsupported');
  }
  let text: string;
  try {
    text = read(named);
  } catch (error) {
    const tried = scheme === '' ? [uri] : [uri, named];
    throw notOpened(tried.map((path) => openSslStatFailure(error, path)).join(' '));
  }
  let key: KeyObject | string = '';
  if (text.includes('-----BEGIN ')) {
    key = firstKey(text, passwords);
  } else {
    const der = Buffer.from(text, 'latin1');
    for (let i = 0; i < DER_FORMS.length && typeof key === 'string'; i++) {
      key = opened({ key: der, format: 'der', type: DER_FORMS[i]! }, passwords);
    }
  }
  if (typeof key === 'string') {
    throw new TlsFileError('OSSL_STORE_load() failed');
  }
  return key;
}

// Trust settings follow the certificate in a block of their own kind; node:crypto reads the certificate alone.
function withoutTrust(block: string): string | Buffer {
  if (!block.startsWith('-----BEGIN TRUSTED')) {
    return block;
  }
  const der = Buffer.from(block.replace(/-----[^-]+-----/g, ''), 'base64');
  const long = der[1]! & 0x7f;
  const size = der[1]! < 0x80 ? 2 + der[1]! : 2 + long + der.readUIntBE(2, long);
  return der.subarray(0, size);
}

/** As long as a line with a password may be. nginx: NGX_SSL_PASSWORD_BUFFER_SIZE. */
export const LONGEST_PASSWORD = 4095;

/** The passwords in a file, one a line. nginx: ngx_ssl_read_password_file. */
export function readPasswords(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const passwords = lines.filter((line) => line !== '');
  return passwords.length === 0 ? [''] : passwords;
}
