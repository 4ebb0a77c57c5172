import { In } from '../../../shared/config/context.js';
import { authKind } from '../../../shared/zone/meter-kinds.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { Request } from '../../http/request/request.js';
import { claimText, memberAt, memberNamed } from '../../jose/claims.js';
import { josePackage } from '../../jose/jose-package.js';
import { readUnverified, type TokenText } from '../../jose/unverified-token.js';
import { VerifiedToken } from '../../jose/verified-token.js';
import { isScriptSubrequest } from '../../js/script-subrequest.js';
import { variableName } from '../../lookup/variable-name.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { DECLINED } from '../../task/codes.js';
import { runtimePart } from '../../task/protocol-runtime.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { JwtChecker, tokenText } from './checker.js';
import { FileKeySource } from './file-source.js';
import { RequestSource } from './request-source.js';
import { type JwtSettings, locationScope } from './settings.js';
import { UrlSource } from './url-source.js';

const slot = new LocationSlot<JwtSettings>();

const checkerSlot = new LocationSlot<JwtChecker | undefined>();

/** By the settings, which locations share that say nothing of their own. */
const checkersOf = runtimePart(() => new Map<Readonly<JwtSettings>, JwtChecker>());

/** What checks the tokens of a location, made with the first that has these settings. */
function makeChecker(conf: Readonly<JwtSettings>, env: WorkerEnv, location: LocationRuntime): JwtChecker | undefined {
  const { asked, files, requests, urls, keyCache } = conf;
  if (asked === undefined || asked.realm.constant === 'off') {
    return undefined;
  }
  const checkers = checkersOf(location.server.http);
  let checker = checkers.get(conf);
  if (checker === undefined) {
    if (conf.type !== 'signed') {
      // It is there before the first request that would have to wait for it.
      josePackage();
    }
    const sources = [
      ...files.map((file) => new FileKeySource(file, keyCache)),
      ...requests.map((uri) => new RequestSource(uri, keyCache)),
      ...urls.map((url) => new UrlSource(url, env, location)),
    ];
    checker = new JwtChecker(conf, asked, sources, env.zones.counters.meters.meter(authKind, 'auth_jwt'));
    checkers.set(conf, checker);
  }
  location.put(checkerSlot, checker);
  return checker;
}

const checkerAt = (location: LocationRuntime): JwtChecker | undefined => location.conf(checkerSlot);
const textOf = (r: Request): TokenText | undefined => tokenText(r, checkerAt) ?? sessionText(r);

/** The only token that is read without a check here: `auth_oidc` has checked it. */
const ID_TOKEN = /^\$(?:oidc_id_token|\{oidc_id_token\})$/;

/** What the session's ID token says, with `auth_jwt off token=$oidc_id_token`. */
function sessionText(r: Request): TokenText | undefined {
  const { asked } = r.location.conf(slot);
  const token = asked?.realm.constant === 'off' && ID_TOKEN.test(asked.token?.text ?? '') ? asked.token!.eval(r) : '';
  return token === '' ? undefined : readUnverified(token);
}

const mainScope = defineScope({
  fields: {},
  directives: {
    // Syntax: auth_jwt_claim_set $variable name ...;
    auth_jwt_claim_set: { in: In.HTTP, args: { min: 2 }, set: (_conf, _node, ctx) => defineMember(ctx, 'claims') },
    auth_jwt_header_set: { in: In.HTTP, args: { min: 2 }, set: (_conf, _node, ctx) => defineMember(ctx, 'header') },
  },
});

/** Makes a variable of what a list of names leads to. */
function defineMember(ctx: Context, part: 'claims' | 'header'): void {
  const [variable, ...path] = ctx.node.args;
  const name = variableName(variable!, 0, ctx);
  const defined = ctx.variables.define({
    name,
    cacheable: false,
    get(r) {
      const text = textOf(r);
      return text === undefined ? undefined : claimText(memberAt(text[part], path));
    },
  });
  if (!defined) {
    ctx.fail(`the duplicate "${name}" variable`, { arg: 0 });
  }
}

function memberOf(r: Request, part: 'claims' | 'header', name: string): string | undefined {
  const text = textOf(r);
  return text === undefined ? undefined : claimText(memberNamed(text[part], name));
}

/** Lets in who has a JSON Web Token. NGINX Plus: ngx_http_auth_jwt_module. */
export const authJwtModule = defineModule({
  name: 'auth_jwt',
  main: mainScope,
  location: locationScope,
  slot,
  variables: [
    { name: 'jwt_claim_', prefix: true, cacheable: false, get: (r, name) => memberOf(r, 'claims', name) },
    { name: 'jwt_header_', prefix: true, cacheable: false, get: (r, name) => memberOf(r, 'header', name) },
    {
      name: 'jwt_payload',
      cacheable: false,
      get(r) {
        const text = textOf(r);
        return text instanceof VerifiedToken ? text.payload : undefined;
      },
    },
  ],
  phases: {
    // Subrequests have no access phase, and scripts ask whether a token is right by one.
    preaccess(conf, env, location) {
      const checker = makeChecker(conf, env, location);
      return checker === undefined ? undefined : (r) => (isScriptSubrequest(r) ? checker.check(r) : DECLINED);
    },
    access(conf, env, location) {
      const checker = makeChecker(conf, env, location);
      return checker === undefined ? undefined : (r) => checker.check(r);
    },
  },
});
