import { constants } from 'node:crypto';
import type { SecureContextOptions, SecureVersion } from 'node:tls';
import { ownValue } from '../../shared/collection/own-value.js';
import type { ConfigContext } from '../../shared/config/define.js';
import type { NamedFiles } from '../../shared/config/named-files.js';
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

/** Commands whose value is a file. */
const FILES: ReadonlySet<string> = new Set(['certificate', 'privatekey']);

/** Reads a `*_ssl_conf_command`. */
export function readConfCommand(ctx: ConfigContext<ClientTask>): ConfCommand {
  const [name, value] = ctx.node.args as [string, string];
  return [name, FILES.has(name.toLowerCase()) ? ctx.path(value, 'conf') : value];
}

/** A certificate and a key, as PEM, that commands put in place of those of their kind. */
export interface CommandedIdentity {
  cert?: string;
  key?: string;
}

/**
 * Puts the commands of `ssl_conf_command` into a context's options. Throws {@link TlsFileError} with nginx's line. nginx:
 * ngx_ssl_conf_commands.
 */
export function applyCommands(options: SecureContextOptions, commands: readonly ConfCommand[], files: NamedFiles): CommandedIdentity {
  const identity: CommandedIdentity = {};
  for (const [name, value] of commands) {
    const fail = (reason: string): never => {
      throw new TlsFileError(`SSL_CONF_cmd("${name}", "${value}") failed (SSL: ${reason})`);
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
