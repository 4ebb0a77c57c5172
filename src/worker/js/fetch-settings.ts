import type { SecureContext } from 'node:tls';
import type { NamedFiles } from '../../shared/config/named-files.js';
import type { ComplexValue } from '../../shared/value/complex.js';
import type { Resolver } from '../resolver/resolver.js';
import type { ClientTask } from '../task/client-task.js';
import { type ContextBase, clientContextBase, makeContext } from '../tls/context.js';
import { FetchPool } from './fetch-pool.js';

/** What a location or a stream server says about `ngx.fetch`. Times are in milliseconds, sizes in bytes. */
export interface FetchSettings {
  fetchTimeout: number;
  fetchBufferSize: number;
  fetchMaxResponse: number;
  /** How many idle connections are kept. */
  fetchKeepalive: number;
  fetchKeepaliveRequests: number;
  fetchKeepaliveTime: number;
  fetchKeepaliveTimeout: number;
  fetchProxy: ComplexValue<ClientTask> | undefined;
  /** Bits of TLS. */
  fetchProtocols: number;
  fetchCiphers: string;
  fetchVerify: boolean;
  fetchVerifyDepth: number;
  /** A complete path, or empty: those that Node trusts. */
  fetchTrustedCertificate: string;
}

/** How names are looked up where a script runs. */
export interface Lookup {
  readonly resolver: Pick<Resolver, 'resolve'> | undefined;
  readonly resolverTimeout: number;
}

/** How connections over TLS are made, and whom they trust. */
export interface TlsContext {
  readonly base: ContextBase;
  readonly context: SecureContext;
}

/** What requests to other servers use of the place that they are made for. */
export interface FetchPlace {
  /** Who makes them, for the lines of the error log. */
  readonly who: string;
  readonly settings: Pick<FetchSettings, 'fetchTimeout' | 'fetchVerifyDepth'>;
  readonly lookup: Lookup;
  readonly pool: FetchPool;
  readonly tls: TlsContext;
}

/** `ngx.fetch` as one location or stream server has it set. */
export class FetchScope implements FetchPlace {
  readonly who = 'js';
  readonly settings: Readonly<FetchSettings>;
  readonly pool: FetchPool;
  readonly lookup: Lookup;
  readonly #files: NamedFiles;
  #tls: TlsContext | undefined = undefined;

  constructor(settings: Readonly<FetchSettings>, files: NamedFiles, lookup: Lookup) {
    this.settings = settings;
    this.lookup = lookup;
    this.#files = files;
    this.pool = new FetchPool(settings);
  }

  /** Made with the first fetch that needs it. */
  get tls(): TlsContext {
    this.#tls ??= fetchContext(this.settings, this.#files);
    return this.#tls;
  }
}

/** The context of connections over TLS. @throws TlsFileError with nginx's line. nginx: ngx_js_set_ssl. */
export function fetchContext(settings: Readonly<FetchSettings>, files: NamedFiles): TlsContext {
  const trustedCertificate = settings.fetchTrustedCertificate === '' ? undefined : settings.fetchTrustedCertificate;
  const { fetchProtocols: protocols, fetchCiphers: ciphers } = settings;
  const base = clientContextBase({ protocols, ciphers, trustedCertificate, crl: undefined, confCommands: [] }, files);
  const { ca, ...rest } = base.options;
  return { base, context: makeContext({ ...base, options: trustedCertificate === undefined ? rest : { ...rest, ca } }, []) };
}

/** A proxy that requests go through. */
export interface FetchProxy {
  readonly host: string;
  readonly port: number;
  /** The value of Proxy-Authorization; empty for none. */
  readonly authorization: string;
}

/** Reads the URL of a proxy; undefined for an empty one, and a text for what is wrong. nginx: ngx_js_parse_proxy_url. */
export function readProxy(url: string): FetchProxy | undefined | string {
  if (url === '') {
    return undefined;
  }
  if (!url.startsWith('http://')) {
    return 'js_fetch_proxy URL must use http:// scheme';
  }
  const rest = url.slice('http://'.length);
  const at = rest.indexOf('@');
  let authorization = '';
  if (at !== -1) {
    const colon = rest.lastIndexOf(':', at);
    if (colon < 1) {
      return 'js_fetch_proxy URL credentials must be in user:password format';
    }
    const user = unescapeLatin1(rest.slice(0, colon));
    const password = unescapeLatin1(rest.slice(colon + 1, at));
    if (user === '' || password === '') {
      return user === '' ? 'js_fetch_proxy username is empty' : 'js_fetch_proxy password is empty';
    }
    authorization = `Basic ${Buffer.from(`${user}:${password}`, 'latin1').toString('base64')}`;
  }
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^:/?#\s]+)(?::(\d{1,5}))?$/.exec(rest.slice(at + 1));
  const port = Number(match?.[2] ?? 3128);
  if (match === null || port < 1 || port > 65535) {
    return 'invalid proxy URL';
  }
  return { host: match[1]!, port, authorization };
}

const unescapeLatin1 = (text: string): string =>
  text.replace(/%([0-9A-Fa-f]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
