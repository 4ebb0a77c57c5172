import type { SecureContext } from 'node:tls';
import type { Identity } from './identity.js';
import { IdentityCache } from './identity-cache.js';
import type { Chain } from './pem.js';
import type { CertificateCache } from './settings.js';

/** The caches of `*_ssl_certificate_cache` lines; blocks that take a line over share its cache. */
const caches = new WeakMap<CertificateCache, IdentityCache>();
const uncached = new IdentityCache(null);

/** Contexts with certificates that are named at request time; each is made once for as long as its certificates are kept. */
export class IdentityContexts {
  readonly #identities: IdentityCache;
  readonly #contexts = new WeakMap<Chain, { readonly identities: readonly Identity[]; readonly context: SecureContext }>();

  constructor(identities: IdentityCache) {
    this.#identities = identities;
  }

  /** The context for pairs of a certificate and a key, at least one. Throws {@link TlsFileError} with nginx's line. */
  get(
    pairs: readonly (readonly [certificate: string, key: string])[],
    passwords: readonly string[],
    make: (identities: readonly Identity[]) => SecureContext,
  ): SecureContext {
    const identities = pairs.map(([certificate, key]) => this.#identities.get(certificate, key, passwords));
    const first = identities[0]!.chain;
    const known = this.#contexts.get(first);
    if (known !== undefined && same(known.identities, identities)) {
      return known.context;
    }
    const context = make(identities);
    this.#contexts.set(first, { identities, context });
    return context;
  }
}

/** Contexts over the cache of one line; without one, certificates are read each time. */
export function contextsOf(limits: CertificateCache | null): IdentityContexts {
  if (limits === null) {
    return new IdentityContexts(uncached);
  }
  let cache = caches.get(limits);
  if (cache === undefined) {
    cache = new IdentityCache(limits);
    caches.set(limits, cache);
  }
  return new IdentityContexts(cache);
}

function same(one: readonly Identity[], other: readonly Identity[]): boolean {
  return one.length === other.length && one.every(({ chain, key }, i) => chain === other[i]!.chain && key === other[i]!.key);
}
