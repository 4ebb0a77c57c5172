import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit, type Scope, type SettingField } from '../../../shared/config/define.js';
import { parseTime } from '../../../shared/config/language/units.js';
import { msec, oneOf, sec } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { parseRequirement, type Requirement } from '../../http/headers/requirement.js';
import type { Request } from '../../http/request/request.js';
import type { TokenType } from '../../jose/token-verifier.js';
import { targetOf } from '../../js/fetch-exchange.js';
import { describeRequest } from '../../js/fetch-message.js';
import { KEY_ZONE, KEY_ZONE_BYTES, type KeyZoneRef, keyZone } from '../../jwks/key-zone.js';
import { trustedFetch } from '../../jwks/trusted-fetch.js';
import { type Context, defineScope } from '../../module.js';

/** What `auth_jwt` asks for. */
export interface AskedTokens {
  readonly realm: ComplexValue<Request>;
  /** Where the token is; undefined: in the Authorization header. */
  readonly token: ComplexValue<Request> | undefined;
}

/** A file of keys. */
export interface KeyFile {
  readonly value: ComplexValue<Request>;
  /** Where relative names of files begin. */
  readonly folder: string;
}

/** A URL of keys. */
export interface KeyUrl {
  readonly url: string;
  /** Milliseconds. */
  readonly refresh: number;
  /** A file of certificates in place of those that Node trusts; empty for none. */
  readonly trustedCertificate: string;
  /** Where workers keep sets for those after them. */
  readonly zone: KeyZoneRef;
}

/** What a location says of JSON Web Tokens. */
export interface JwtSettings {
  /** Undefined: off. */
  asked: AskedTokens | undefined;
  type: TokenType;
  /** Seconds. */
  leeway: number;
  /** Milliseconds that keys are kept without another look; 0: they are not. */
  keyCache: number;
  files: readonly KeyFile[];
  requests: readonly ComplexValue<Request>[];
  urls: readonly KeyUrl[];
  requirements: readonly Requirement[];
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const ANY_BLOCK = ANYWHERE | In.LIMIT_EXCEPT;
const TYPES: Readonly<Record<TokenType, TokenType>> = { signed: 'signed', encrypted: 'encrypted', nested: 'nested' };
/** nginx takes the value of one variable, and nothing around it. */
const VARIABLE = /^\$(?:[A-Za-z0-9_]+|\{[A-Za-z0-9_]+\})$/;

const fields: { readonly [K in keyof JwtSettings]: SettingField<JwtSettings[K]> } = {
  asked: inherit<AskedTokens | undefined>(undefined),
  type: inherit<TokenType>('signed'),
  leeway: inherit(0),
  keyCache: inherit(0),
  files: inherit<readonly KeyFile[]>([]),
  requests: inherit<readonly ComplexValue<Request>[]>([]),
  urls: inherit<readonly KeyUrl[]>([]),
  requirements: inherit<readonly Requirement[]>([]),
};

/** The directives of NGINX Plus's ngx_http_auth_jwt_module for locations. */
export const locationScope: Scope<JwtSettings, Request> = defineScope<JwtSettings>({
  fields,
  directives: {
    // Syntax: auth_jwt string [token=$variable] | off;
    auth_jwt: { in: ANY_BLOCK, args: [1, 2], set: setRealm },
    auth_jwt_type: { in: ANY_BLOCK, args: 1, set: oneOf('type', TYPES) },
    auth_jwt_leeway: { in: ANYWHERE, args: 1, set: sec('leeway') },
    auth_jwt_key_cache: { in: ANYWHERE, args: 1, set: msec('keyCache') },
    auth_jwt_key_file: {
      in: ANY_BLOCK,
      args: 1,
      set(conf, node, ctx) {
        const path = node.args[0]!;
        const value = ctx.complex(path.startsWith('$') ? path : ctx.path(path, 'conf'));
        conf.files = append(conf.files, { value, folder: ctx.path('', 'conf') });
      },
    },
    auth_jwt_key_request: {
      in: ANY_BLOCK,
      args: 1,
      set(conf, node, ctx) {
        conf.requests = append(conf.requests, ctx.complex(node.args[0]!));
      },
    },
    // Syntax: auth_jwt_key_url url [refresh=time] [trusted_certificate=file]; ours.
    auth_jwt_key_url: {
      in: ANY_BLOCK,
      args: [1, 2, 3],
      set(conf, _node, ctx) {
        conf.urls = append(conf.urls, readUrl(ctx));
      },
    },
    // Syntax: auth_jwt_require $value ... [error=401 | 403];
    auth_jwt_require: {
      in: ANY_BLOCK,
      args: { min: 1 },
      set(conf, node, ctx) {
        conf.requirements = append(conf.requirements, parseRequirement(node, ctx, 401, /^(?:401|403)$/));
      },
    },
  },
  link({ asked, files, requests, urls }, ctx, place) {
    for (const { url, trustedCertificate } of urls) {
      if (trustedCertificate !== '' && ctx.checking) {
        checkTrusted(url, trustedCertificate, ctx);
      }
    }
    if (
      place.context === In.LOCATION &&
      asked !== undefined &&
      asked.realm.constant !== 'off' &&
      files.length + requests.length + urls.length === 0
    ) {
      ctx.warn('"auth_jwt" without keys refuses every token: "auth_jwt_key_file", "auth_jwt_key_request" or "auth_jwt_key_url" gives them');
    }
  },
});

function setRealm(conf: Partial<JwtSettings>, node: Context['node'], ctx: Context): void {
  if ('asked' in conf) {
    ctx.reject('is duplicate');
  }
  const [realm, parameter] = node.args;
  let token: ComplexValue<Request> | undefined;
  if (parameter !== undefined) {
    const variable = parameter.startsWith('token=') ? parameter.slice('token='.length) : undefined;
    if (variable === undefined) {
      ctx.fail(`invalid parameter "${parameter}"`, { arg: 1, hint: 'the only one is `token=$variable`' });
    }
    if (!VARIABLE.test(variable)) {
      ctx.fail(`invalid variable name "${variable}"`, { arg: 1, hint: 'write one variable, such as `token=$cookie_auth_token`' });
    }
    token = ctx.complex(variable);
  }
  conf.asked = { realm: ctx.complex(realm!), token };
}

/** How often a URL is asked unless told. */
const REFRESH = 300_000;

function readUrl(ctx: Context): KeyUrl {
  const [url = '', ...parameters] = ctx.node.args;
  if (url.includes('$')) {
    ctx.fail(`invalid URL "${url}"`, {
      arg: 0,
      hint: 'the URL has no variables: `auth_jwt_key_request` asks for keys while a request waits',
    });
  }
  try {
    targetOf(describeRequest(url, {}).url);
  } catch {
    ctx.fail(`invalid URL "${url}"`, { arg: 0, hint: 'it begins with `https://` or `http://`' });
  }
  let refresh = REFRESH;
  let trustedCertificate = '';
  for (const [i, parameter] of parameters.entries()) {
    if (parameter.startsWith('refresh=')) {
      const time = parseTime(parameter.slice('refresh='.length), 'ms');
      refresh =
        time === undefined || time < 1000
          ? ctx.fail(`invalid time "${parameter}"`, { arg: i + 1, hint: 'it is one second at least' })
          : time;
    } else if (/^trusted_certificate=./.test(parameter)) {
      trustedCertificate = ctx.path(parameter.slice('trusted_certificate='.length), 'conf');
    } else {
      ctx.fail(`invalid parameter "${parameter}"`, { arg: i + 1 });
    }
  }
  return { url, refresh, trustedCertificate, zone: ctx.zone(keyZone, KEY_ZONE, { bytes: KEY_ZONE_BYTES, data: undefined }) };
}

type LinkContext = Parameters<NonNullable<typeof locationScope.link>>[1];

function checkTrusted(url: string, file: string, ctx: LinkContext): void {
  try {
    void trustedFetch(file, ctx.named, { resolver: undefined, resolverTimeout: 0 }).tls;
  } catch (error) {
    ctx.fail(`${(error as Error).message} for "auth_jwt_key_url ${url}"`);
  }
}
