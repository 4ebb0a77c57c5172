import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { type Directive, inherit, type LinkContext, type SettingField } from '../../../shared/config/define.js';
import { ConfigError } from '../../../shared/config/errors.js';
import { readNamedLines } from '../../../shared/config/read-named.js';
import { bits, complex, flag, int, text } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { SharedContext } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import { readCertificateCache } from '../../tls/certificate-cache.js';
import { readConfCommand } from '../../tls/conf-command.js';
import { tryOptions } from '../../tls/context.js';
import { isStored, LONGEST_PASSWORD, readPasswords, TlsFileError } from '../../tls/pem.js';
import { protocolWords, TLS } from '../../tls/settings.js';
import { namedByVariable } from '../../tls/variable-name.js';
import type { NamedFile, TlsClientSettings } from '../settings/tls-settings.js';
import { clientContext } from '../tls/tls-client.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

type Row = Directive<TlsClientSettings, ClientTask>;

/** The defaults of {@link TlsClientSettings}, and how inner blocks take them over. */
export const tlsClientFields: { readonly [K in keyof TlsClientSettings]: SettingField<TlsClientSettings[K]> } = {
  sslSessionReuse: inherit(true),
  sslProtocols: inherit<number>(TLS.TLS_1_2 | TLS.TLS_1_3),
  sslCiphers: inherit('DEFAULT'),
  sslName: inherit<ComplexValue<ClientTask> | undefined>(undefined),
  sslServerName: inherit(false),
  sslVerify: inherit(false),
  sslVerifyDepth: inherit(1),
  sslTrustedCertificate: inherit(''),
  sslCrl: inherit(''),
  sslCertificate: inherit<NamedFile | undefined>(undefined),
  sslCertificateKey: inherit<NamedFile | undefined>(undefined),
  sslCertificateCache: inherit<TlsClientSettings['sslCertificateCache']>(null),
  sslPasswords: inherit<readonly string[]>([]),
  sslConfCommands: inherit<TlsClientSettings['sslConfCommands']>([]),
};

/** A file in the folder of the configuration. */
const file =
  (key: 'sslTrustedCertificate' | 'sslCrl'): Row['set'] =>
  (conf, node, ctx) => {
    if (conf[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    const path = node.args[0]!;
    conf[key] = path === '' ? '' : ctx.path(path, 'conf');
  };

const named =
  (key: 'sslCertificate' | 'sslCertificateKey'): Row['set'] =>
  (conf, node, ctx) => {
    if (conf[key] !== undefined) {
      ctx.reject('is duplicate');
    }
    conf[key] = namedFile(node.args[0]!, ctx, key === 'sslCertificateKey');
  };

// nginx: ngx_http_set_complex_value_zero_slot, then ngx_ssl_cache_init_key.
function namedFile(name: string, ctx: SharedContext, isKey: boolean): NamedFile {
  const inFolder = (path: string): string => (isKey && isStored(path) ? path : ctx.path(path, 'conf'));
  const complete = (path: string): string => (path === '' || path.startsWith('data:') ? path : inFolder(path));
  const value = ctx.complex(name);
  return {
    text: name,
    path: value.constant === undefined ? undefined : complete(value.constant),
    eval: (r) => namedByVariable(value, r, inFolder),
  };
}

const passwords: Row['set'] = (conf, node, ctx) => {
  if (conf.sslPasswords !== undefined) {
    ctx.reject('is duplicate');
  }
  conf.sslPasswords = readPasswords(readNamedLines(ctx.path(node.args[0]!, 'conf'), LONGEST_PASSWORD, ctx));
};

/** The rows by the part of their names behind the prefix. */
const rows: Readonly<Record<string, Row>> = {
  ssl_session_reuse: { in: ANYWHERE, args: 'flag', set: flag('sslSessionReuse') },
  ssl_protocols: {
    in: ANYWHERE,
    args: { min: 1 },
    set: bits('sslProtocols', protocolWords),
  },
  ssl_ciphers: { in: ANYWHERE, args: 1, set: text('sslCiphers') },
  ssl_name: { in: ANYWHERE, args: 1, set: complex('sslName') },
  ssl_server_name: { in: ANYWHERE, args: 'flag', set: flag('sslServerName') },
  ssl_verify: { in: ANYWHERE, args: 'flag', set: flag('sslVerify') },
  ssl_verify_depth: { in: ANYWHERE, args: 1, set: int('sslVerifyDepth') },
  ssl_trusted_certificate: { in: ANYWHERE, args: 1, set: file('sslTrustedCertificate') },
  ssl_crl: { in: ANYWHERE, args: 1, set: file('sslCrl') },
  ssl_certificate: { in: ANYWHERE, args: 1, set: named('sslCertificate') },
  ssl_certificate_key: { in: ANYWHERE, args: 1, set: named('sslCertificateKey') },
  ssl_certificate_cache: {
    in: ANYWHERE,
    args: [1, 2, 3],
    set(conf, _node, ctx) {
      if (conf.sslCertificateCache !== undefined) {
        ctx.reject('is duplicate');
      }
      conf.sslCertificateCache = readCertificateCache(ctx);
    },
  },
  ssl_password_file: { in: ANYWHERE, args: 1, set: passwords },
  ssl_conf_command: {
    in: ANYWHERE,
    args: 2,
    set(conf, _node, ctx) {
      conf.sslConfCommands = append(conf.sslConfCommands, readConfCommand(ctx));
    },
  },
};

/** The directives for TLS to backends, under one protocol's prefix; `contexts` are those of `http` by default. */
export function tlsClientDirectives(family: 'proxy' | 'grpc' | 'uwsgi', contexts: number = ANYWHERE): { readonly [name: string]: Row } {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [`${family}_${name}`, { ...row, in: contexts }]));
}

/** Checks the settings of a location that uses TLS; for `link`. nginx: ngx_http_proxy_set_ssl. */
export function linkTlsClient(family: string, conf: Readonly<TlsClientSettings>, ctx: LinkContext<ClientTask>): void {
  if (!ctx.checking) {
    return;
  }
  const fail = (message: string): never => {
    throw new ConfigError(message, undefined);
  };
  const { sslCertificate, sslCertificateKey } = conf;
  if (sslCertificate !== undefined && sslCertificate.text !== '' && sslCertificateKey === undefined) {
    fail(`no "${family}_ssl_certificate_key" is defined for certificate "${sslCertificate.text}"`);
  }
  if (conf.sslVerify && conf.sslTrustedCertificate === '') {
    fail(`no ${family}_ssl_trusted_certificate for ${family}_ssl_verify`);
  }
  try {
    tryOptions({ ciphers: conf.sslCiphers, ecdhCurve: 'auto', dhparam: undefined }, ctx.named);
    clientContext(conf, ctx.named);
  } catch (error) {
    if (error instanceof ConfigError) {
      throw error;
    }
    fail(error instanceof TlsFileError ? error.message : `SSL_CTX_new() failed (SSL: ${(error as Error).message})`);
  }
}
