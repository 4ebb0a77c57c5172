import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { type Field, inherit } from '../../../shared/config/define.js';
import { msec, oneOf, sec } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { parseRequirement, type Requirement } from '../../http/headers/requirement.js';
import type { Request } from '../../http/request/request.js';
import type { TokenType } from '../../jose/token-verifier.js';
import { type Context, defineScope } from '../../module.js';

/** What `auth_jwt` asks for. */
export interface Asked {
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

/** What a location says of JSON Web Tokens. */
export interface JwtSettings {
  /** Undefined: off. */
  asked: Asked | undefined;
  type: TokenType;
  /** Seconds. */
  leeway: number;
  /** Milliseconds that keys are kept without another look; 0: they are not. */
  keyCache: number;
  files: readonly KeyFile[];
  requests: readonly ComplexValue<Request>[];
  requirements: readonly Requirement[];
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const ANY_BLOCK = ANYWHERE | In.LIMIT_EXCEPT;
const TYPES: Readonly<Record<TokenType, TokenType>> = { signed: 'signed', encrypted: 'encrypted', nested: 'nested' };
/** nginx takes the value of one variable, and nothing around it. */
const VARIABLE = /^\$(?:[A-Za-z0-9_]+|\{[A-Za-z0-9_]+\})$/;

const fields: { readonly [K in keyof JwtSettings]: Field<JwtSettings[K]> } = {
  asked: inherit<Asked | undefined>(undefined),
  type: inherit<TokenType>('signed'),
  leeway: inherit(0),
  keyCache: inherit(0),
  files: inherit<readonly KeyFile[]>([]),
  requests: inherit<readonly ComplexValue<Request>[]>([]),
  requirements: inherit<readonly Requirement[]>([]),
};

/** The directives of NGINX Plus's ngx_http_auth_jwt_module for locations. */
export const locationScope = defineScope<JwtSettings>({
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
    // Syntax: auth_jwt_require $value ... [error=401 | 403];
    auth_jwt_require: {
      in: ANY_BLOCK,
      args: { min: 1 },
      set(conf, node, ctx) {
        conf.requirements = append(conf.requirements, parseRequirement(node, ctx, 401, /^(?:401|403)$/));
      },
    },
  },
  link({ asked, files, requests }, ctx, place) {
    if (place.context === In.LOCATION && asked !== undefined && asked.realm.constant !== 'off' && files.length + requests.length === 0) {
      ctx.warn('"auth_jwt" without keys refuses every token: "auth_jwt_key_file" or "auth_jwt_key_request" gives them');
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
