import { isIP } from 'node:net';
import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { ERROR } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { LOGIN } from '../../../shared/zone/meter-kinds.js';
import type { WorkerEnv } from '../../env.js';
import { documentSlot } from '../../http/request/document-settings.js';
import type { HttpRuntime } from '../../http/request/http-runtime.js';
import type { Request } from '../../http/request/request.js';
import { josePackage } from '../../jose/jose-package.js';
import { defineModule, defineScope, type Variable } from '../../module.js';
import { resolverScope } from '../../resolver/directive/resolver-settings.js';
import { resolverOf } from '../../resolver/directive/resolvers.js';
import { DECLINED, OK, type Result } from '../../task/codes.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { tell } from './answer.js';
import { loginFor, loginOf } from './cookies.js';
import { type Providers, providersOf } from './endpoints.js';
import { askForLogin } from './login.js';
import { oauthPackage } from './oauth-package.js';
import { Provider } from './provider.js';
import { readProvider } from './read-provider.js';
import { lineOfClaim } from './session.js';
import type { ProviderSettings } from './settings.js';

interface MainSettings {
  providers: ReadonlyMap<string, ProviderSettings>;
}

interface Settings {
  provider: ComplexValue<Request> | undefined;
}

const mainScope = defineScope<MainSettings>({
  fields: { providers: own<MainSettings['providers']>(new Map()) },
  directives: {
    oidc_provider: {
      in: In.HTTP,
      args: 1,
      block: 'entries',
      set(conf, node, ctx) {
        const name = node.args[0]!;
        if (conf.providers?.has(name) === true) {
          ctx.fail(`duplicate oidc provider "${name}"`, { arg: 0 });
        }
        if (name === 'off' || name === '') {
          ctx.fail(`invalid oidc provider name "${name}"`, { arg: 0 });
        }
        conf.providers = new Map([...(conf.providers ?? []), [name, readProvider(node, ctx)]]);
      },
    },
  },
  link({ providers }, ctx, { block }) {
    for (const { name, zone, configUrl, pos } of providers.values()) {
      if (zone.bytes !== 0 && zone.data.type !== 'string') {
        ctx.fail(`the session store "${zone.name}" of oidc provider "${name}" must be of type "string"`, pos);
      }
      if ((ctx.settings(resolverScope, block).resolver?.servers.length ?? 0) === 0 && isIP(hostOf(configUrl)) === 0) {
        ctx.warn(`no "resolver" is defined to find the oidc provider "${name}" with`, pos);
      }
    }
  },
});

const scope = defineScope<Settings>({
  fields: { provider: inherit<ComplexValue<Request> | undefined>(undefined) },
  directives: {
    auth_oidc: {
      in: In.HTTP | In.SERVER | In.LOCATION,
      args: 1,
      set(conf, node, ctx) {
        if (conf.provider !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.provider = ctx.complex(node.args[0]!);
      },
    },
  },
  link({ provider }, ctx, { block }) {
    const name = provider?.constant;
    if (name !== undefined && name !== 'off' && !ctx.settings(mainScope, httpBlock(block)).providers.has(name)) {
      ctx.fail(`oidc provider "${name}" is not defined`, block.seen('auth_oidc')?.pos);
    }
  },
});

function httpBlock(block: Block): Block {
  let at = block;
  while (at.context !== In.HTTP) {
    at = at.parent!;
  }
  return at;
}

/** The host of a URL, an address of IPv6 without its brackets. */
const hostOf = (url: string): string => /^https:\/\/(?:\[([^\]]*)\]|([^/:?]*))/i.exec(url)?.slice(1).join('') ?? '';

/** The provider that is to let a request in; undefined: none. A number is the status of a request whose provider is not known. */
function providerFor(r: Request, conf: Readonly<Settings>, providers: Providers): Provider | 500 | undefined {
  const name = conf.provider?.eval(r) ?? 'off';
  if (name === 'off' || name === '') {
    return undefined;
  }
  const provider = providers.all.get(name);
  if (provider === undefined) {
    r.log(ERROR, `oidc provider "${name}" not found`);
    return 500;
  }
  return provider;
}

// NGINX Plus: ngx_http_oidc_module's handler of the access phase.
function handle(r: Request, conf: Readonly<Settings>, providers: Providers): Result {
  const answered = providers.answer(r);
  if (answered !== DECLINED) {
    return answered;
  }
  const provider = providerFor(r, conf, providers);
  if (provider === undefined || typeof provider === 'number') {
    return provider ?? DECLINED;
  }
  const session = provider.sessions.find(r);
  if (session === undefined) {
    // Where one of several is enough, the others are asked first: nobody is led away who may come in.
    return r.location.conf(documentSlot).satisfy === 'any' ? DECLINED : askForLogin(r, provider);
  }
  loginFor(r).session = session;
  provider.meter.count(LOGIN.requests);
  if (Date.now() >= session.refreshAt) {
    return providers.refreshes.take(r, provider, session);
  }
  if (r.trace !== null) {
    tell(r, `a session of "${session.data.sub}"`);
  }
  return OK;
}

/** Runs behind all others: with `satisfy any`, nobody has let the request in. */
function handleLast(r: Request, conf: Readonly<Settings>, providers: Providers): Result {
  const provider = r.location.conf(documentSlot).satisfy === 'any' ? providerFor(r, conf, providers) : undefined;
  return typeof provider === 'object' ? askForLogin(r, provider) : DECLINED;
}

/** Puts cookies of logins, logouts and refreshes into the response. */
function headerFilter(r: Request): Result {
  const cookies = r === r.main ? loginOf(r)?.cookies : undefined;
  if (cookies !== undefined) {
    for (let i = 0; i < cookies.length; i++) {
      r.out.add('Set-Cookie', cookies[i]!);
    }
    cookies.length = 0;
  }
  return OK;
}

/** What a provider gave, as the value of a variable. */
const textOf = (text: string | undefined): string | undefined => (text === '' ? undefined : lineOfClaim(text));

const variables: readonly Variable[] = [
  { name: 'oidc_id_token', cacheable: false, get: (r) => textOf(loginOf(r)?.session?.data.idToken) },
  { name: 'oidc_access_token', cacheable: false, get: (r) => textOf(loginOf(r)?.session?.data.accessToken) },
  { name: 'oidc_userinfo', cacheable: false, get: (r) => textOf(loginOf(r)?.session?.data.userinfo) },
  { name: 'oidc_claim_', prefix: true, cacheable: false, get: (r, name) => lineOfClaim(loginOf(r)?.session?.claim(name)) },
];

function install({ providers }: Readonly<MainSettings>, http: HttpRuntime, env: WorkerEnv): void {
  const { all } = providersOf(http);
  const { resolver, resolverTimeout } = http.mainSettings(resolverScope);
  for (const settings of providers.values()) {
    const zone = env.zones.open(settings.zone);
    if (settings.ownZone) {
      zone.start(env.log);
      env.onClose(() => zone.close());
    }
    const lookup = { resolver: resolver === undefined ? undefined : resolverOf(resolver, http, env), resolverTimeout };
    const provider = new Provider(settings, zone, env, lookup);
    if (env.rehearsing !== true) {
      oauthPackage();
      if (settings.decryptionKeys.length > 0) {
        josePackage();
      }
      provider.prepare();
    }
    all.set(settings.name, provider);
  }
}

const slot = new LocationSlot<Settings>();

/** Has users log in at OpenID Providers. NGINX Plus: ngx_http_oidc_module. */
export const authOidcModule = defineModule({
  name: 'auth_oidc',
  main: mainScope,
  location: scope,
  slot,
  variables,
  installMain: install,
  installLocation({ provider }, { server }) {
    const providers = providersOf(server.http);
    if (provider === undefined) {
      return;
    }
    const name = provider.constant;
    for (const known of providers.all.values()) {
      // A name with variables may be that of any provider.
      if (name === undefined || known.settings.name === name) {
        providers.use(server, known);
      }
    }
  },
  phases: {
    access(conf, _env, { server: { http } }) {
      const providers = providersOf(http);
      return providers.all.size === 0 && conf.provider === undefined ? undefined : (r) => handle(r, conf, providers);
    },
  },
  headerFilter: (_conf, _env, { server: { http } }) => (providersOf(http).all.size === 0 ? undefined : headerFilter),
});

/** Leads browsers to the login where `satisfy any` has asked all others before. */
export const authOidcLoginModule = defineModule({
  name: 'auth_oidc_login',
  phases: {
    access(_conf, _env, location) {
      const conf = location.conf(slot);
      const providers = providersOf(location.server.http);
      return conf.provider === undefined ? undefined : (r) => handleLast(r, conf, providers);
    },
  },
});
