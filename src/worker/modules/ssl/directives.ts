import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { withErrno } from '../../../shared/config/errors.js';
import type { DirectiveNode, Pos } from '../../../shared/config/language/ast.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { bits, flag, int, oneOf, sec, size, text } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import { type Context, defineScope } from '../../module.js';
import { readCertificateCache } from '../../tls/certificate-cache.js';
import { sessionZone, statusZone } from '../../tls/sessions.js';
import { protocolWords, TLS, type TlsSettings, type VerifyMode } from '../../tls/settings.js';
import { linkServer } from './link.js';

const HTTP_SERVER = In.HTTP | In.SERVER;
const TICKET_ZONE_BYTES = 64 * 1024;
const MIN_ZONE_BYTES = 8 * 4096;
/** OpenSSL's own limit for sessions in a context. */
const BUILTIN_SESSIONS = 20 * 1024;

/** A setting that names a file in the configuration's folder. */
const file =
  <K extends keyof TlsSettings>(key: K) =>
  (conf: Partial<TlsSettings>, node: DirectiveNode, ctx: Context): void => {
    if (conf[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    const path = node.args[0]!;
    (conf as Record<string, unknown>)[key] = path === '' ? undefined : ctx.path(path, 'conf');
  };

/** What Node leaves out of OpenSSL, in nginx's words for a library without it. */
const unsupported =
  (wanted: (node: DirectiveNode) => boolean) =>
  (_conf: Partial<TlsSettings>, node: DirectiveNode, ctx: Context): void => {
    if (wanted(node)) {
      ctx.warn(`"${node.name}" is not supported on this platform, ignored`);
    }
  };
const on = (node: DirectiveNode): boolean => node.args[0]!.toLowerCase() === 'on';

/** The directives of `ssl_*`. nginx: ngx_http_ssl_commands. */
export const sslScope = defineScope<TlsSettings>({
  fields: {
    certificates: inherit<readonly string[] | undefined>(undefined),
    certificateNames: inherit<readonly string[]>([]),
    certificatePlaces: inherit<readonly Pos[]>([]),
    certificateKeys: inherit<readonly string[] | undefined>(undefined),
    complexNames: { initial: new Map(), merge: (parent, child) => (child === undefined ? parent : new Map([...parent, ...child])) },
    certificateCache: inherit<TlsSettings['certificateCache']>(null),
    passwordFile: inherit<string | undefined>(undefined),
    dhparam: inherit<string | undefined>(undefined),
    ecdhCurve: inherit('auto'),
    protocols: inherit<number>(TLS.TLS_1_2 | TLS.TLS_1_3),
    ciphers: inherit('HIGH:!aNULL:!MD5'),
    bufferSize: inherit(16384),
    verify: inherit<VerifyMode>('off'),
    verifyDepth: inherit(1),
    clientCertificate: inherit<string | undefined>(undefined),
    trustedCertificate: inherit<string | undefined>(undefined),
    preferServerCiphers: inherit(false),
    sessionCache: inherit<TlsSettings['sessionCache']>({ builtin: 0, zone: undefined }),
    sessionTickets: inherit(true),
    ticketKeyFiles: inherit<readonly string[]>([]),
    sessionTimeout: inherit(300),
    crl: inherit<string | undefined>(undefined),
    confCommands: inherit<readonly (readonly [string, string])[]>([]),
    rejectHandshake: inherit(false),
    stapling: inherit(false),
    staplingFile: inherit<string | undefined>(undefined),
    staplingResponder: inherit(''),
    staplingVerify: inherit(false),
    ocsp: inherit<TlsSettings['ocsp']>('off'),
    ocspResponder: inherit(''),
    ocspCache: inherit<TlsSettings['ocspCache']>(null),
    ticketZone: inherit<TlsSettings['ticketZone']>(undefined),
  },
  directives: {
    ssl_certificate: {
      in: HTTP_SERVER,
      args: 1,
      set(conf, node, ctx) {
        conf.certificateNames = [...(conf.certificateNames ?? []), node.args[0]!];
        conf.certificatePlaces = [...(conf.certificatePlaces ?? []), node.pos];
        conf.certificates = [...(conf.certificates ?? []), certificateName(conf, node.args[0]!, ctx)];
        conf.ticketZone ??= ctx.zone(sessionZone, ' ssl tickets', { bytes: TICKET_ZONE_BYTES, data: undefined });
      },
    },
    ssl_certificate_key: {
      in: HTTP_SERVER,
      args: 1,
      set(conf, node, ctx) {
        const name = node.args[0]!;
        if (name.startsWith('engine:') || name.startsWith('store:')) {
          const kind = name.slice(0, name.indexOf(':'));
          ctx.fail(`cannot load certificate key "${name}": loading "${kind}:..." certificate keys is not supported`, { arg: 0 });
        }
        conf.certificateKeys = [...(conf.certificateKeys ?? []), certificateName(conf, name, ctx)];
      },
    },
    ssl_certificate_cache: {
      in: HTTP_SERVER,
      args: [1, 2, 3],
      set(conf, _node, ctx) {
        if (conf.certificateCache !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.certificateCache = readCertificateCache(ctx);
      },
    },
    ssl_ech_file: { in: HTTP_SERVER, args: 1, set: unsupported(() => true) },
    ssl_password_file: {
      in: HTTP_SERVER,
      args: 1,
      set(conf, node, ctx) {
        file('passwordFile')(conf, node, ctx);
        checkReadable(conf.passwordFile!, ctx);
      },
    },
    ssl_certificate_compression: { in: HTTP_SERVER, args: 'flag', set: unsupported(on) },
    ssl_dhparam: { in: HTTP_SERVER, args: 1, set: file('dhparam') },
    ssl_ecdh_curve: { in: HTTP_SERVER, args: 1, set: text('ecdhCurve') },
    ssl_protocols: {
      in: HTTP_SERVER,
      args: { min: 1 },
      set: bits('protocols', protocolWords),
    },
    ssl_ciphers: { in: HTTP_SERVER, args: 1, set: text('ciphers') },
    ssl_buffer_size: { in: HTTP_SERVER, args: 1, set: size('bufferSize') },
    ssl_verify_client: {
      in: HTTP_SERVER,
      args: 1,
      set: oneOf('verify', { off: 'off', on: 'on', optional: 'optional', optional_no_ca: 'optional_no_ca' } as const),
    },
    ssl_verify_depth: { in: HTTP_SERVER, args: 1, set: int('verifyDepth') },
    ssl_client_certificate: { in: HTTP_SERVER, args: 1, set: file('clientCertificate') },
    ssl_trusted_certificate: { in: HTTP_SERVER, args: 1, set: file('trustedCertificate') },
    ssl_prefer_server_ciphers: { in: HTTP_SERVER, args: 'flag', set: flag('preferServerCiphers') },
    ssl_session_cache: { in: HTTP_SERVER, args: [1, 2], set: (conf, node, ctx) => setSessionCache(conf, node, ctx) },
    ssl_session_tickets: { in: HTTP_SERVER, args: 'flag', set: flag('sessionTickets') },
    ssl_session_ticket_key: {
      in: HTTP_SERVER,
      args: 1,
      set(conf, node, ctx) {
        conf.ticketKeyFiles = [...(conf.ticketKeyFiles ?? []), ctx.path(node.args[0]!, 'conf')];
      },
    },
    ssl_session_timeout: { in: HTTP_SERVER, args: 1, set: sec('sessionTimeout') },
    ssl_crl: { in: HTTP_SERVER, args: 1, set: file('crl') },
    ssl_ocsp: {
      in: HTTP_SERVER,
      args: 1,
      set: oneOf('ocsp', { off: 'off', on: 'on', leaf: 'leaf' } as const),
    },
    ssl_ocsp_responder: { in: HTTP_SERVER, args: 1, set: text('ocspResponder') },
    ssl_ocsp_cache: { in: HTTP_SERVER, args: 1, set: (conf, node, ctx) => setStatusCache(conf, node, ctx) },
    ssl_stapling: { in: HTTP_SERVER, args: 'flag', set: flag('stapling') },
    ssl_stapling_file: { in: HTTP_SERVER, args: 1, set: file('staplingFile') },
    ssl_stapling_responder: { in: HTTP_SERVER, args: 1, set: text('staplingResponder') },
    ssl_stapling_verify: { in: HTTP_SERVER, args: 'flag', set: flag('staplingVerify') },
    ssl_early_data: { in: HTTP_SERVER, args: 'flag', set: unsupported(on) },
    ssl_conf_command: {
      in: HTTP_SERVER,
      args: 2,
      set(conf, node) {
        conf.confCommands = [...(conf.confCommands ?? []), [node.args[0]!, node.args[1]!]];
      },
    },
    ssl_reject_handshake: { in: HTTP_SERVER, args: 'flag', set: flag('rejectHandshake') },
  },
  link: linkServer,
});

/** Completes the name of a certificate or key; one with variables is completed when they are known. */
function certificateName(conf: Partial<TlsSettings>, name: string, ctx: Context): string {
  if (name.startsWith('data:') && !name.includes('$')) {
    return name;
  }
  if (!name.includes('$')) {
    return ctx.path(name, 'conf');
  }
  const value = ctx.complex(name);
  if (value.constant !== undefined) {
    return value.constant.startsWith('data:') ? value.constant : ctx.path(value.constant, 'conf');
  }
  const complete = (path: string): string => (path.startsWith('data:') ? path : ctx.path(path, 'conf'));
  const completed: ComplexValue<Request> = { ...value, eval: (r) => complete(value.eval(r)) };
  conf.complexNames = new Map([...(conf.complexNames ?? []), [name, completed]]);
  return name;
}

/** Reads a small file whose absence nginx reports at the directive. */
function checkReadable(path: string, ctx: Context): void {
  try {
    ctx.named.read(path);
  } catch (error) {
    ctx.fail(withErrno(`open() "${path}" failed`, error), { arg: 0 });
  }
}

// nginx: ngx_http_ssl_session_cache.
function setSessionCache(conf: Partial<TlsSettings>, node: DirectiveNode, ctx: Context): void {
  let { builtin, zone } = conf.sessionCache ?? { builtin: 0, zone: undefined };
  for (const [i, argument] of node.args.entries()) {
    const invalid = (): never => ctx.fail(`invalid session cache "${argument}"`, { arg: i });
    if (argument === 'off' || argument === 'none') {
      builtin = 0;
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
function setStatusCache(conf: Partial<TlsSettings>, node: DirectiveNode, ctx: Context): void {
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
