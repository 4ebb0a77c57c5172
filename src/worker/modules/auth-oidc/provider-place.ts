import type { NamedFiles } from '../../../shared/config/named-files.js';
import { FetchPool } from '../../js/fetch-pool.js';
import type { FetchPlace, Lookup, TlsContext } from '../../js/fetch-settings.js';
import { clientContextBase, makeContext } from '../../tls/context.js';
import { TLS } from '../../tls/settings.js';
import { systemAuthorities } from '../../tls/system-authorities.js';
import type { ProviderSettings } from './settings.js';

/** How long (milliseconds) a provider may be silent. */
const TIMEOUT = 10_000;
const DEPTH = 100;

/** Where requests to a provider are made from. */
export class ProviderPlace implements FetchPlace {
  readonly who = 'oidc';
  readonly settings = { fetchTimeout: TIMEOUT, fetchVerifyDepth: DEPTH };
  readonly lookup: Lookup;
  /** Connections are not kept. */
  readonly pool = new FetchPool({ fetchKeepalive: 0, fetchKeepaliveRequests: 0, fetchKeepaliveTime: 0, fetchKeepaliveTimeout: 0 });
  readonly #provider: ProviderSettings;
  readonly #files: NamedFiles;
  #tls: TlsContext | undefined;

  constructor(provider: ProviderSettings, files: NamedFiles, lookup: Lookup) {
    this.#provider = provider;
    this.#files = files;
    this.lookup = lookup;
  }

  /** Made with the first request: the system's authorities are many. */
  get tls(): TlsContext {
    this.#tls ??= providerContext(this.#provider, this.#files);
    return this.#tls;
  }
}

function providerContext({ trustedCertificate, crl }: ProviderSettings, files: NamedFiles): TlsContext {
  const protocols = TLS.TLS_1_2 | TLS.TLS_1_3;
  const base = clientContextBase({ protocols, ciphers: 'DEFAULT', trustedCertificate, crl, confCommands: [] }, files);
  if (trustedCertificate !== undefined) {
    return { base, context: makeContext(base, []) };
  }
  const { ca: _none, ...options } = base.options;
  const system = systemAuthorities();
  return { base, context: makeContext({ ...base, options: system === undefined ? options : { ...options, ca: system } }, []) };
}
