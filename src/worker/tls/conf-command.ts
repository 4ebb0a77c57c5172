import { constants } from 'node:crypto';
import type { SecureContext, SecureContextOptions, SecureVersion } from 'node:tls';
import { ownValue } from '../../shared/collection/own-value.js';
import type { ConfigContext } from '../../shared/config/define.js';
import type { NamedFiles } from '../../shared/config/named-files.js';
import { type ContextCommand, giveCommands } from '../net/openssl/context-commands.js';
import type { ClientTask } from '../task/client-task.js';
import { openSslFailure, TlsFileError } from './pem.js';

const VERSIONS: Readonly<Record<string, SecureVersion>> = {
  TLSv1: 'TLSv1',
  'TLSv1.0': 'TLSv1',
  'TLSv1.1': 'TLSv1.1',
  'TLSv1.2': 'TLSv1.2',
  'TLSv1.3': 'TLSv1.3',
};

/** Names in `Options` with OpenSSL's bits; true: the name switches the bit off, as `SessionTicket` does with "no tickets". */
const OPTIONS: Readonly<Record<string, readonly [number, boolean?]>> = {
  SessionTicket: [constants.SSL_OP_NO_TICKET, true],
  EncryptThenMac: [constants.SSL_OP_NO_ENCRYPT_THEN_MAC, true],
  ServerPreference: [constants.SSL_OP_CIPHER_SERVER_PREFERENCE],
  PrioritizeChaCha: [constants.SSL_OP_PRIORITIZE_CHACHA],
  AllowNoDHEKEX: [constants.SSL_OP_ALLOW_NO_DHE_KEX],
  Compression: [constants.SSL_OP_NO_COMPRESSION, true],
  MiddleboxCompat: [0x00100000],
  NoResumptionOnRenegotiation: [constants.SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION],
};

/** A command and its value. */
export type ConfCommand = readonly [name: string, value: string];

/** Commands whose value is a file: SSL_CONF_TYPE_FILE. */
const FILES: ReadonlySet<string> = new Set(
  'certificate privatekey serverinfofile chaincafile verifycafile requestcafile clientcafile dhparameters'.split(' '),
);
/** ... and a folder: SSL_CONF_TYPE_DIR. */
const FOLDERS: ReadonlySet<string> = new Set('chaincapath verifycapath requestcapath clientcapath'.split(' '));

/** Reads a `*_ssl_conf_command`. */
export function readConfCommand(ctx: ConfigContext<ClientTask>): ConfCommand {
  const [name, value] = ctx.node.args as [string, string];
  const lower = name.toLowerCase();
  return [name, FILES.has(lower) || FOLDERS.has(lower) ? ctx.path(value, 'conf') : value];
}

const failed = (name: string, value: string, reason: string): TlsFileError =>
  new TlsFileError(`SSL_CONF_cmd("${name}", "${value}") failed (SSL: ${reason})`);

/** The commands with what is in the files that they name. */
export function withFiles(commands: readonly ConfCommand[], files: NamedFiles): ContextCommand[] {
  return commands.map(([name, value]) => ({ name, value, content: FILES.has(name.toLowerCase()) ? contentOf(value, files) : undefined }));
}

/** Undefined where the file cannot be read, which OpenSSL then says in its own words. */
function contentOf(path: string, files: NamedFiles): string | undefined {
  try {
    return files.read(path);
  } catch {
    return undefined;
  }
}

/** Gives commands to a context. Throws {@link TlsFileError} with nginx's line. */
export function commandContext(context: SecureContext, commands: readonly ContextCommand[]): void {
  const failure = giveCommands(context, commands);
  if (failure !== undefined) {
    const { command, reason } = failure;
    throw command === undefined
      ? new TlsFileError(`SSL_CONF_finish() failed (SSL: ${reason})`)
      : failed(command.name, command.value, reason);
  }
}

/** A certificate and a key, as PEM, that commands put in place of those of their kind. */
export interface CommandedIdentity {
  cert?: string;
  key?: string;
}

/**
 * Puts the commands of `ssl_conf_command` into a context's options, where OpenSSL itself cannot be given them: the usual ones alone. Throws
 * {@link TlsFileError} with nginx's line.
 */
export function applyCommands(options: SecureContextOptions, commands: readonly ConfCommand[], files: NamedFiles): CommandedIdentity {
  const identity: CommandedIdentity = {};
  for (const [name, value] of commands) {
    const fail = (reason: string): never => {
      throw failed(name, value, reason);
    };
    const version = (): SecureVersion =>
      ownValue(VERSIONS, value) ?? fail(`error:0A000180:SSL routines::bad value:cmd=${name}, value=${value}`);
    switch (name.toLowerCase()) {
      case 'minprotocol':
        options.minVersion = version();
        break;
      case 'maxprotocol':
        options.maxVersion = version();
        break;
      case 'ciphersuites':
        options.ciphers = `${value}:${(options.ciphers ?? '').replaceAll(/TLS_[A-Z0-9_]+:/g, '')}`;
        break;
      case 'cipherstring':
        options.ciphers = `${(options.ciphers ?? '').match(/TLS_[A-Z0-9_]+:/g)?.join('') ?? ''}${value}`;
        break;
      case 'curves':
      case 'groups':
        options.ecdhCurve = value;
        break;
      case 'signaturealgorithms':
        options.sigalgs = value;
        break;
      case 'certificate':
        identity.cert = readFile(value, files, fail);
        break;
      case 'privatekey':
        identity.key = readFile(value, files, fail);
        break;
      case 'options':
        options.secureOptions = withOptions(options.secureOptions ?? 0, value, fail);
        break;
      default:
        fail(`error:0A000182:SSL routines::unknown cmd name:cmd=${name}`);
    }
  }
  return identity;
}

function readFile(path: string, files: NamedFiles, fail: (reason: string) => never): string {
  try {
    return files.read(path);
  } catch (error) {
    return fail(openSslFailure(error, path, 'r'));
  }
}

function withOptions(bits: number, list: string, fail: (reason: string) => never): number {
  for (const item of list.split(',')) {
    const text = item.trim();
    const off = text.startsWith('-');
    const found = ownValue(OPTIONS, text.replace(/^[+-]/, ''));
    if (found === undefined) {
      return fail(`error:0A000180:SSL routines::bad value:cmd=Options, value=${list}`);
    }
    const [bit, inverse = false] = found;
    bits = off === inverse ? bits | bit : bits & ~bit;
  }
  return bits;
}
