import type { HttpRuntime, ServerRuntime } from '../../http/request/http-runtime.js';
import type { Request } from '../../http/request/request.js';
import { DECLINED, type Result } from '../../task/codes.js';
import { runtimePart } from '../../task/protocol-runtime.js';
import { takeCallback } from './callback.js';
import { backChannelLogout, frontChannelLogout, logOut } from './logout.js';
import type { Provider } from './provider.js';
import { Refreshes } from './refresh.js';
import { uriPath } from './settings.js';

type Endpoint = (r: Request) => Result;

/** The providers of an `http` block, and the servers whose locations use them. */
export class Providers {
  readonly all = new Map<string, Provider>();
  readonly refreshes = new Refreshes();
  readonly #used = new Map<ServerRuntime, Set<Provider>>();
  readonly #endpoints = new Map<ServerRuntime, ReadonlyMap<string, Endpoint>>();

  /** A location of the server uses a provider: the server answers at the provider's addresses. */
  use(server: ServerRuntime, provider: Provider): void {
    const used = this.#used.get(server);
    if (used === undefined) {
      this.#used.set(server, new Set([provider]));
    } else {
      used.add(provider);
    }
  }

  /** Answers a request for one of the addresses that belong to a provider; DECLINED for all others. */
  answer(r: Request): Result {
    let endpoints = this.#endpoints.get(r.server);
    if (endpoints === undefined) {
      // All locations are known by now.
      this.#endpoints.set(r.server, (endpoints = endpointsOf([...(this.#used.get(r.server) ?? [])])));
    }
    const endpoint = endpoints.size === 0 ? undefined : endpoints.get(r.uri);
    return endpoint === undefined ? DECLINED : endpoint(r);
  }
}

/** The providers of a block as it runs. */
export const providersOf: (http: HttpRuntime) => Providers = runtimePart(() => new Providers());

function endpointsOf(providers: readonly Provider[]): Map<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  for (const provider of providers) {
    const { logoutUri, frontchannelLogoutUri, backchannelLogoutUri } = provider.settings;
    for (const [path, answer] of [
      [logoutUri, logOut],
      [frontchannelLogoutUri, frontChannelLogout],
      [backchannelLogoutUri, backChannelLogout],
    ] as const) {
      if (path !== undefined && !endpoints.has(path)) {
        endpoints.set(path, (r) => answer(r, provider));
      }
    }
  }
  for (const path of new Set(providers.map(({ settings }) => uriPath(settings.redirectUri)))) {
    const own = providers.filter(({ settings }) => uriPath(settings.redirectUri) === path);
    endpoints.set(path, (r) => takeCallback(r, own));
  }
  return endpoints;
}
