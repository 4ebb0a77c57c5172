import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import type { DirectiveNode, Pos } from '../../../shared/config/language/ast.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { LateValue } from '../../../shared/config/late-value.js';
import { readNamedLines } from '../../../shared/config/read-named.js';
import { bits, flag, int, msec, oneOf, sec, size, text } from '../../../shared/config/slots.js';
import type { SealedZone } from '../../fleet/settings.js';
import { defineSharedScope, type SharedContext } from '../../module.js';
import { whyNoCompression } from '../../net/openssl/certificate-compression.js';
import { whyNoEarlyData } from '../../net/openssl/early-data.js';
import type { ClientTask } from '../../task/client-task.js';
import { readCertificateCache } from '../../tls/certificate-cache.js';
import { readConfCommand } from '../../tls/conf-command.js';
import { FLEET_KEY_BYTES, FLEET_KEY_ZONE, fleetKeyZone } from '../../tls/fleet-key-zone.js';
import { isStored, LONGEST_PASSWORD } from '../../tls/pem.js';
import { sessionZone, statusZone } from '../../tls/sessions.js';
import {
  AUTOMATIC_CERTIFICATE,
  AUTOMATIC_KEY,
  type AutomaticTls,
  type NameWithVariables,
  protocolWords,
  TLS,
  type TlsSettings,
  type VerifyMode,
} from '../../tls/settings.js';
import { namedByVariable } from '../../tls/variable-name.js';
import { linkServer } from './link.js';

const USUAL_CIPHERS = 'HIGH:!aNULL:!MD5';
/** For TLS 1.2, what all browsers of the last ten years support and what keeps sessions secret when a key is lost. */
const FORWARD_SECRET = ['ECDSA-AES128', 'RSA-AES128', 'ECDSA-AES256', 'RSA-AES256']
  .map((name) => `ECDHE-${name}-GCM-SHA${name.endsWith('256') ? 384 : 256}`)
  .concat('ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305')
  .join(':');
const HTTP_SERVER = In.HTTP | In.SERVER;
const ANY_SERVER = HTTP_SERVER | In.STREAM | In.STREAM_SERVER;
const TICKET_ZONE_BYTES = 64 * 1024;
const MIN_ZONE_BYTES = 8 * 4096;
/** OpenSSL's own limit for sessions in a context. */
const BUILTIN_SESSIONS = 20 * 1024;

/** A setting that names a file in the configuration's folder. */
const file =
  <K extends keyof TlsSettings>(key: K) =>
  (conf: Partial<TlsSettings>, node: DirectiveNode, ctx: SharedContext): void => {
    if (conf[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    const path = node.args[0]!;
    (conf as Record<string, unknown>)[key] = path === '' ? undefined : ctx.path(path, 'conf');
  };

/** nginx's words for a library without something. */
const notSupported = ({ name }: DirectiveNode): string => `"${name}" is not supported on this platform, ignored`;

/** What Node leaves out of OpenSSL. */
const unsupported =
  (wanted: (node: DirectiveNode) => boolean) =>
  (_conf: Partial<TlsSettings>, node: DirectiveNode, ctx: SharedContext): void => {
    if (wanted(node)) {
      ctx.warn(notSupported(node));
    }
  };

/** What sessions know besides. */
export interface SessionTlsSettings {
  /** Milliseconds. */
  handshakeTimeout: number;
  /** Names of ALPN, best first; undefined: it is not answered. */
  alpn: readonly string[] | undefined;
}

/** The directives of `ssl_*` that `stream` alone has. nginx: ngx_stream_ssl_commands. */
export const sessionTlsScope = defineSharedScope<SessionTlsSettings>({
  fields: { handshakeTimeout: inherit(60_000), alpn: inherit<readonly string[] | undefined>(undefined) },
  directives: {
    ssl_handshake_timeout: { in: In.STREAM | In.STREAM_SERVER, args: 1, set: msec('handshakeTimeout') },
    // nginx: ngx_stream_ssl_alpn.
    ssl_alpn: {
      in: In.STREAM | In.STREAM_SERVER,
      args: { min: 1 },
      set(conf, node, ctx) {
        if (conf.alpn !== undefined) {
          ctx.reject('is duplicate');
        }
        const long = node.args.findIndex((name) => name.length > 255);
        if (long !== -1) {
          ctx.reject('protocol too long', { arg: long });
        }
        conf.alpn = node.args;
      },
    },
  },
});

/** The directives of `ssl_*`. nginx: ngx_http_ssl_commands, ngx_stream_ssl_commands. */
export const sslScope = defineSharedScope<TlsSettings>({
  fields: {
    certificates: inherit<readonly string[] | undefined>(undefined),
    certificateNames: inherit<readonly string[]>([]),
    certificatePlaces: inherit<readonly Pos[]>([]),
    certificateKeys: inherit<readonly string[] | undefined>(undefined),
    complexNames: { initial: new Map(), merge: (parent, child) => (child === undefined ? parent : new Map([...parent, ...child])) },
    certificateCache: inherit<TlsSettings['certificateCache']>(null),
    passwordFile: inherit<string | undefined>(undefined),
    certificateCompression: inherit(false),
    earlyData: inherit(false),
    dhparam: inherit<string | undefined>(undefined),
    ecdhCurve: inherit('auto'),
    protocols: inherit<number>(TLS.TLS_1_2 | TLS.TLS_1_3),
    ciphers: inherit(USUAL_CIPHERS),
    bufferSize: inherit(16384),
    verify: inherit<VerifyMode>('off'),
    verifyDepth: inherit(1),
    clientCertificate: inherit<string | undefined>(undefined),
    trustedCertificate: inherit<string | undefined>(undefined),
    preferServerCiphers: inherit(false),
    // The two parts are taken over one by one; a zone alone says that there is no other part.
    sessionCache: {
      initial: { builtin: 'none', zone: undefined },
      merge: (parent, child) =>
        child === undefined
          ? parent
          : { builtin: child.builtin ?? (child.zone === undefined ? parent.builtin : undefined), zone: child.zone ?? parent.zone },
    },
    sessionTickets: inherit(true),
    ticketSync: inherit<TlsSettings['ticketSync']>(null),
    ticketKeyFiles: inherit<readonly string[]>([]),
    sessionTimeout: inherit(300),
    crl: inherit<string | undefined>(undefined),
    confCommands: inherit<readonly (readonly [string, string])[]>([]),
    rejectHandshake: inherit(false),
    stapling: inherit<boolean | undefined>(undefined),
    staplingFile: inherit<string | undefined>(undefined),
    staplingResponder: inherit(''),
    staplingVerify: inherit(false),
    ocsp: inherit<TlsSettings['ocsp']>('off'),
    ocspResponder: inherit(''),
    ocspCache: inherit<TlsSettings['ocspCache']>(null),
    ticketZone: inherit<TlsSettings['ticketZone']>(undefined),
    automatic: inherit<TlsSettings['automatic']>(null),
  },
  directives: {
    ssl_certificate: {
      in: ANY_SERVER,
      args: 1,
      set(conf, node, ctx) {
        conf.certificateNames = append(conf.certificateNames, node.args[0]!);
        conf.certificatePlaces = append(conf.certificatePlaces, node.pos);
        conf.certificates = append(conf.certificates, certificateName(conf, node.args[0]!, ctx, false));
        conf.ticketZone ??= ctx.zone(sessionZone, ' ssl tickets', { bytes: TICKET_ZONE_BYTES, data: undefined });
      },
    },
    ssl_certificate_key: {
      in: ANY_SERVER,
      args: 1,
      set(conf, node, ctx) {
        conf.certificateKeys = append(conf.certificateKeys, certificateName(conf, node.args[0]!, ctx, true));
      },
    },
    ssl_certificate_cache: {
      in: ANY_SERVER,
      args: [1, 2, 3],
      set(conf, _node, ctx) {
        if (conf.certificateCache !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.certificateCache = readCertificateCache(ctx);
      },
    },
    ssl_ech_file: { in: ANY_SERVER, args: 1, set: unsupported(() => true) },
    ssl_password_file: {
      in: ANY_SERVER,
      args: 1,
      set(conf, node, ctx) {
        if (conf.passwordFile !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.passwordFile = ctx.path(node.args[0]!, 'conf');
        readNamedLines(conf.passwordFile, LONGEST_PASSWORD, ctx);
      },
    },
    ssl_certificate_compression: {
      in: ANY_SERVER,
      args: 'flag',
      set(conf, node, ctx) {
        flag<'certificateCompression', ClientTask>('certificateCompression')(conf, node, ctx);
        if (conf.certificateCompression && whyNoCompression() !== '') {
          ctx.warn(notSupported(node), { hint: `sluice cannot ask for it because ${whyNoCompression()}` });
        }
      },
    },
    ssl_dhparam: { in: ANY_SERVER, args: 1, set: file('dhparam') },
    ssl_ecdh_curve: { in: ANY_SERVER, args: 1, set: text('ecdhCurve') },
    ssl_protocols: {
      in: ANY_SERVER,
      args: { min: 1 },
      set: bits('protocols', protocolWords),
    },
    ssl_ciphers: { in: ANY_SERVER, args: 1, set: text('ciphers') },
    ssl_buffer_size: { in: HTTP_SERVER, args: 1, set: size('bufferSize') },
    ssl_verify_client: {
      in: ANY_SERVER,
      args: 1,
      set: oneOf('verify', { off: 'off', on: 'on', optional: 'optional', optional_no_ca: 'optional_no_ca' } as const),
    },
    ssl_verify_depth: { in: ANY_SERVER, args: 1, set: int('verifyDepth') },
    ssl_client_certificate: { in: ANY_SERVER, args: 1, set: file('clientCertificate') },
    ssl_trusted_certificate: { in: ANY_SERVER, args: 1, set: file('trustedCertificate') },
    ssl_prefer_server_ciphers: { in: ANY_SERVER, args: 'flag', set: flag('preferServerCiphers') },
    ssl_session_cache: { in: ANY_SERVER, args: [1, 2], set: (conf, node, ctx) => setSessionCache(conf, node, ctx) },
    ssl_session_tickets: { in: ANY_SERVER, args: [1, 2], set: setTickets },
    ssl_session_ticket_key: {
      in: ANY_SERVER,
      args: 1,
      set(conf, node, ctx) {
        conf.ticketKeyFiles = append(conf.ticketKeyFiles, ctx.path(node.args[0]!, 'conf'));
      },
    },
    ssl_session_timeout: { in: ANY_SERVER, args: 1, set: sec('sessionTimeout') },
    ssl_crl: { in: ANY_SERVER, args: 1, set: file('crl') },
    ssl_ocsp: {
      in: ANY_SERVER,
      args: 1,
      set: oneOf('ocsp', { off: 'off', on: 'on', leaf: 'leaf' } as const),
    },
    ssl_ocsp_responder: { in: ANY_SERVER, args: 1, set: text('ocspResponder') },
    ssl_ocsp_cache: { in: ANY_SERVER, args: 1, set: (conf, node, ctx) => setStatusCache(conf, node, ctx) },
    ssl_stapling: { in: ANY_SERVER, args: 'flag', set: flag('stapling') },
    ssl_stapling_file: { in: ANY_SERVER, args: 1, set: file('staplingFile') },
    ssl_stapling_responder: { in: ANY_SERVER, args: 1, set: text('staplingResponder') },
    ssl_stapling_verify: { in: ANY_SERVER, args: 'flag', set: flag('staplingVerify') },
    ssl_early_data: {
      in: HTTP_SERVER,
      args: 'flag',
      set(conf, node, ctx) {
        flag<'earlyData', ClientTask>('earlyData')(conf, node, ctx);
        if (conf.earlyData && whyNoEarlyData() !== '') {
          ctx.warn(notSupported(node), { hint: `sluice cannot ask for it because ${whyNoEarlyData()}` });
        }
      },
    },
    ssl_conf_command: {
      in: ANY_SERVER,
      args: 2,
      set(conf, _node, ctx) {
        conf.confCommands = append(conf.confCommands, readConfCommand(ctx));
      },
    },
    ssl_reject_handshake: { in: ANY_SERVER, args: 'flag', set: flag('rejectHandshake') },
  },
  finish(conf, _parent, { context }) {
    if (context === In.SERVER && conf.automatic !== null && conf.certificates === undefined) {
      useAutomatic(conf, conf.automatic);
    }
  },
  link: linkServer,
});

// Syntax: ssl_session_tickets on | off [sync]; the parameter is ours.
function setTickets(conf: Partial<TlsSettings>, node: DirectiveNode, ctx: SharedContext): void {
  const [value, parameter] = node.args as [string, string | undefined];
  if (!/^o(?:n|ff)$/i.test(value)) {
    ctx.fail(`invalid value "${value}" in "${node.name}" directive, it must be "on" or "off"`, { arg: 0 });
  }
  flag<'sessionTickets', ClientTask>('sessionTickets')(conf, node, ctx);
  if (parameter !== undefined && (parameter !== 'sync' || !conf.sessionTickets)) {
    ctx.fail(`invalid parameter "${parameter}"`, { arg: 1 });
  }
  const data: SealedZone = { sync: true, sealed: true, said: '"sync" of "ssl_session_tickets"' };
  conf.ticketSync = parameter === undefined ? null : ctx.zone(fleetKeyZone, FLEET_KEY_ZONE, { bytes: FLEET_KEY_BYTES, data });
}

/** Settings for a server that names no certificate and has `https`. */
function useAutomatic(conf: TlsSettings, { pos, certificate, key, ticketZone }: AutomaticTls): void {
  conf.certificates = conf.certificateNames = [AUTOMATIC_CERTIFICATE];
  conf.certificateKeys = [AUTOMATIC_KEY];
  conf.certificatePlaces = [pos];
  conf.complexNames = new Map([
    [AUTOMATIC_CERTIFICATE, certificate],
    [AUTOMATIC_KEY, key],
  ]);
  conf.ticketZone ??= ticketZone;
  conf.stapling ??= !conf.certificateCompression;
  if (conf.ciphers === USUAL_CIPHERS) {
    conf.ciphers = FORWARD_SECRET;
  }
}

/** Completes the name of a certificate or key; one with variables is completed when they are known. */
function certificateName(conf: Partial<TlsSettings>, name: string, ctx: SharedContext, isKey: boolean): string {
  const complete = (path: string): string => (isKey && isStored(path) ? path : ctx.path(path, 'conf'));
  if (name.startsWith('data:') && !name.includes('$')) {
    return name;
  }
  if (!name.includes('$')) {
    return complete(name);
  }
  const late = new LateValue<ClientTask>(name, ctx);
  const value: NameWithVariables = {
    compile: (link, place) => late.compile(link, place),
    eval: (r) => namedByVariable(late.value, r, complete),
  };
  conf.complexNames = new Map([...(conf.complexNames ?? []), [name, value]]);
  return name;
}

// nginx: ngx_http_ssl_session_cache.
function setSessionCache(conf: Partial<TlsSettings>, node: DirectiveNode, ctx: SharedContext): void {
  let { builtin, zone } = conf.sessionCache ?? { builtin: undefined, zone: undefined };
  for (const [i, argument] of node.args.entries()) {
    const invalid = (): never => ctx.fail(`invalid session cache "${argument}"`, { arg: i });
    if (argument === 'off' || argument === 'none') {
      builtin = argument;
    } else if (argument === 'builtin') {
      builtin = BUILTIN_SESSIONS;
    } else if (argument.startsWith('builtin:')) {
      if (!/^builtin:\d+$/.test(argument)) {
        invalid();
      }
      builtin = Number(argument.slice('builtin:'.length)) || BUILTIN_SESSIONS;
    } else if (argument.startsWith('shared:')) {
      const [, name, bytes] = /^shared:([^:]+):(.*)$/.exec(argument) ?? invalid();
      const parsed = parseSize(bytes!) ?? invalid();
      if (parsed < MIN_ZONE_BYTES) {
        ctx.fail(`session cache "${argument}" is too small`, { arg: i, hint: 'it needs at least 32k' });
      }
      zone = ctx.zone(sessionZone, name!, { bytes: parsed, data: undefined });
    } else {
      invalid();
    }
  }
  conf.sessionCache = { builtin, zone };
}

// nginx: ngx_http_ssl_ocsp_cache.
function setStatusCache(conf: Partial<TlsSettings>, node: DirectiveNode, ctx: SharedContext): void {
  if (conf.ocspCache !== undefined) {
    ctx.reject('is duplicate');
  }
  const argument = node.args[0]!;
  const invalid = (): never => ctx.fail(`invalid OCSP cache "${argument}"`, { arg: 0 });
  if (argument === 'off') {
    conf.ocspCache = null;
    return;
  }
  const [, name, size] = /^shared:([^:]+):(.*)$/.exec(argument) ?? invalid();
  const bytes = parseSize(size!) ?? invalid();
  if (bytes < MIN_ZONE_BYTES) {
    ctx.fail(`OCSP cache "${argument}" is too small`, { arg: 0, hint: 'it needs at least 32k' });
  }
  conf.ocspCache = ctx.zone(statusZone, name!, { bytes, data: undefined });
}
