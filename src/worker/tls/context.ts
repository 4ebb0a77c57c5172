import { constants, createHash, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions, type SecureVersion } from 'node:tls';
import type { NamedFiles } from '../../shared/config/named-files.js';
import { type ContextCommand, commandedSpeaks13, whyNoCommands } from '../net/openssl/context-commands.js';
import { applyCommands, type CommandedIdentity, commandContext, withFiles } from './conf-command.js';
import { type Identity, objectReader } from './identity.js';
import { loadAuthorities, loadNamed, loadRevocations, openSslFailure, TlsFileError } from './pem.js';
import { TLS, type TlsSettings } from './settings.js';

/** What of a server's settings goes into every context it uses, whichever certificates they have. */
export interface ContextBase {
  readonly options: SecureContextOptions;
  /** Whom clients are checked against; those of `ssl_client_certificate` first. */
  readonly authorities: readonly X509Certificate[];
  readonly commanded: CommandedIdentity;
  /** What OpenSSL is told of each context; undefined for nothing. */
  readonly commands: readonly ContextCommand[] | undefined;
}

/** The settings that contexts depend on. */
export type ContextSettings = Pick<
  TlsSettings,
  | 'protocols'
  | 'ciphers'
  | 'ecdhCurve'
  | 'dhparam'
  | 'sessionTickets'
  | 'sessionTimeout'
  | 'preferServerCiphers'
  | 'verify'
  | 'clientCertificate'
  | 'trustedCertificate'
  | 'crl'
  | 'confCommands'
>;

/** Without names of TLS 1.3 in the list Node switches that version off. */
const SUITES_13 = 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256';

/** OpenSSL's SSL_OP_NO_RENEGOTIATION, which node:crypto has no name for. */
const NO_RENEGOTIATION = 0x40000000;

const NO_VERSION: readonly (readonly [number, number])[] = [
  [TLS.TLS_1, constants.SSL_OP_NO_TLSv1],
  [TLS.TLS_1_1, constants.SSL_OP_NO_TLSv1_1],
  [TLS.TLS_1_2, constants.SSL_OP_NO_TLSv1_2],
  [TLS.TLS_1_3, constants.SSL_OP_NO_TLSv1_3],
];

const VERSIONS: readonly (readonly [number, SecureVersion])[] = [
  [TLS.TLS_1, 'TLSv1'],
  [TLS.TLS_1_1, 'TLSv1.1'],
  [TLS.TLS_1_2, 'TLSv1.2'],
  [TLS.TLS_1_3, 'TLSv1.3'],
];

/** Reads the files that a server names beside its certificates. Throws {@link TlsFileError} with nginx's line for what is wrong. */
export function contextBase(settings: ContextSettings, files: NamedFiles): ContextBase {
  const enabled = VERSIONS.filter(([bit]) => (settings.protocols & bit) !== 0).map(([, name]) => name);
  let secureOptions = constants.SSL_OP_NO_COMPRESSION | NO_RENEGOTIATION;
  for (const [bit, option] of NO_VERSION) {
    if ((settings.protocols & bit) === 0) {
      secureOptions |= option;
    }
  }
  if (!settings.sessionTickets) {
    secureOptions |= constants.SSL_OP_NO_TICKET;
  }
  if (settings.preferServerCiphers) {
    secureOptions |= constants.SSL_OP_CIPHER_SERVER_PREFERENCE;
  }
  const authorities = readAuthorities(settings, files);
  const options: SecureContextOptions = {
    ciphers: `${SUITES_13}:${settings.ciphers}`,
    ecdhCurve: settings.ecdhCurve,
    minVersion: enabled[0] ?? 'TLSv1.2',
    maxVersion: enabled[enabled.length - 1] ?? 'TLSv1.2',
    secureOptions,
    // Node refuses a time of more than 68 years.
    sessionTimeout: Math.min(settings.sessionTimeout, 0x7fffffff),
    ca: authorities.map(String),
  };
  if (settings.crl !== undefined) {
    options.crl = loadNamed('CRL', settings.crl, (path) => loadRevocations(path, objectReader(files)));
  }
  if (settings.dhparam !== undefined) {
    options.dhparam = readParameters(settings.dhparam, files);
  }
  const { confCommands } = settings;
  if (confCommands.length > 0 && whyNoCommands() === '') {
    return { options, authorities, commanded: {}, commands: withFiles(confCommands, files) };
  }
  return { options, authorities, commanded: applyCommands(options, confCommands, files), commands: undefined };
}

/** The settings that contexts of a client's connections depend on. */
export type ClientContextSettings = Pick<ContextSettings, 'protocols' | 'ciphers' | 'trustedCertificate' | 'crl' | 'confCommands'>;

/** The base of contexts for connections that sluice makes itself. @throws TlsFileError with nginx's line. */
export function clientContextBase(settings: ClientContextSettings, files: NamedFiles): ContextBase {
  const base: ContextSettings = {
    ...settings,
    ecdhCurve: 'auto',
    dhparam: undefined,
    sessionTickets: true,
    sessionTimeout: 300,
    preferServerCiphers: false,
    verify: 'off',
    clientCertificate: undefined,
  };
  return contextBase(base, files);
}

/** Whether handshakes may end in TLS 1.3. */
export function speaks13(base: ContextBase): boolean {
  if (base.commands !== undefined) {
    return commandedSpeaks13(makeContext(base, []));
  }
  const { options } = base;
  return options.maxVersion === 'TLSv1.3' && ((options.secureOptions ?? 0) & constants.SSL_OP_NO_TLSv1_3) === 0;
}

function readAuthorities(settings: ContextSettings, files: NamedFiles): X509Certificate[] {
  const seen = new Set<string>();
  const paths: string[] = [];
  if (settings.verify !== 'off' && settings.clientCertificate !== undefined) {
    paths.push(settings.clientCertificate);
  }
  if (settings.trustedCertificate !== undefined) {
    paths.push(settings.trustedCertificate);
  }
  const all = paths.flatMap((path) => loadNamed('certificate', path, () => loadAuthorities(path, objectReader(files))));
  return all.filter(({ fingerprint256 }) => !seen.has(fingerprint256) && seen.add(fingerprint256));
}

function readParameters(path: string, files: NamedFiles): string {
  let text: string;
  try {
    text = files.read(path);
  } catch (error) {
    throw new TlsFileError(`BIO_new_file("${path}") failed (SSL: ${openSslFailure(error, path, 'r')})`);
  }
  if (!/-----BEGIN (?:X9\.42 )?DH PARAMETERS-----/.test(text)) {
    throw new TlsFileError(
      `PEM_read_bio_DHparams("${path}") failed (SSL: error:0480006C:PEM routines::no start line:Expecting: DH PARAMETERS)`,
    );
  }
  return text;
}

/** OpenSSL's SSL_MAX_SSL_SESSION_ID_LENGTH. */
const SESSION_CONTEXT_LENGTH = 32;

/** Tells sessions of different servers apart. nginx: ngx_ssl_session_id_context. */
function sessionContext(identities: readonly Identity[], names: readonly string[], base: ContextBase): string {
  const hash = createHash('sha1').update('HTTP');
  for (const { chain } of identities) {
    hash.update(chain.certificates[0]!.fingerprint);
  }
  for (const name of names) {
    hash.update(name);
  }
  for (const { subject } of base.authorities) {
    hash.update(subject);
  }
  return hash.digest('hex').slice(0, SESSION_CONTEXT_LENGTH);
}

/**
 * Makes a context with these certificates. `names` are the configuration's names of certificates that variables stand in, which tell
 * their sessions apart instead of the certificates themselves.
 */
export function makeContext(base: ContextBase, identities: readonly Identity[], names: readonly string[] = []): SecureContext {
  const options: SecureContextOptions = {
    ...base.options,
    sessionIdContext: sessionContext(names.length > 0 ? [] : identities, names, base),
  };
  const { cert, key } = base.commanded;
  if (identities.length > 0 || cert !== undefined || key !== undefined) {
    // What a command names takes the place of those of its kind.
    const kind = cert === undefined ? undefined : kindOf(new X509Certificate(cert));
    const kept = identities.filter(({ chain }) => kindOf(chain.certificates[0]!) !== kind);
    options.cert = [...kept.map(({ chain }) => chain.pem), ...(cert === undefined ? [] : [cert])];
    options.key = [...kept.map((identity) => identity.key.export({ type: 'pkcs8', format: 'pem' })), ...(key === undefined ? [] : [key])];
  }
  const context = createSecureContext(options);
  if (base.commands !== undefined) {
    commandContext(context, base.commands);
  }
  return context;
}

const kindOf = ({ publicKey }: X509Certificate): string | undefined => publicKey.asymmetricKeyType;

/** Tries the settings that only OpenSSL can judge, one by one, so that the complaint names the right one. Throws {@link TlsFileError}. */
export function tryOptions(settings: Pick<TlsSettings, 'ciphers' | 'ecdhCurve' | 'dhparam'>, files: NamedFiles): void {
  attempt({ ciphers: settings.ciphers }, (reason) => `SSL_CTX_set_cipher_list("${settings.ciphers}") failed (SSL: ${reason})`);
  if (settings.ecdhCurve !== 'auto') {
    const bad = (): string => settings.ecdhCurve.split(':').find((curve) => !works({ ecdhCurve: curve })) ?? settings.ecdhCurve;
    attempt(
      { ecdhCurve: settings.ecdhCurve },
      () =>
        `SSL_CTX_set1_curves_list("${settings.ecdhCurve}") failed (SSL: error:0A080106:SSL routines::passed invalid argument:group '${bad()}' cannot be set)`,
    );
  }
  if (settings.dhparam !== undefined) {
    const { dhparam } = settings;
    const text = readParameters(dhparam, files);
    attempt({ dhparam: text }, (reason) => `SSL_CTX_set0_tmp_dh_pkey("${dhparam}") failed (SSL: ${reason})`);
  }
}

function works(options: SecureContextOptions): boolean {
  try {
    createSecureContext({ ca: [], ...options });
    return true;
  } catch {
    return false;
  }
}

function attempt(options: SecureContextOptions, message: (reason: string) => string): void {
  try {
    createSecureContext({ ca: [], ...options });
  } catch (error) {
    throw new TlsFileError(message((error as Error).message));
  }
}
