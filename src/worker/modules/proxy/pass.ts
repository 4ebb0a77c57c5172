import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { ERROR } from '../../../shared/log/level.js';
import { type BackendUrl, parseBackendUrl } from '../../address/backend-url.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import type { Request } from '../../http/request/request.js';
import { type Context, claimContent } from '../../module.js';
import { declareGroup } from '../../upstream/group/group-config.js';
import type { ResolvedTarget } from '../../upstream/group/resolve-target.js';
import type { ProxyPass, ProxyVars } from './settings.js';

/** Splits the scheme off. Returns undefined for any but http and https. */
function scheme(url: string): { readonly schema: string; readonly port: number } | undefined {
  if (url.slice(0, 7).toLowerCase() === 'http://') {
    return { schema: url.slice(0, 7), port: 80 };
  }
  if (url.slice(0, 8).toLowerCase() === 'https://') {
    return { schema: url.slice(0, 8), port: 443 };
  }
  return undefined;
}

// nginx: ngx_http_proxy_set_vars.
function makeVars(url: BackendUrl, schema: string, defaultPort: number, uri: string): ProxyVars {
  if (url.family === 'unix') {
    return { schema, hostHeader: 'localhost', port: '', uri, keyStart: `${schema}unix:${url.host}:` };
  }
  const usual = url.noPort || url.port === defaultPort;
  const hostHeader = usual ? url.host : `${url.host}:${url.portText}`;
  const port = usual ? (defaultPort === 80 ? '80' : '443') : url.portText;
  return { schema, hostHeader, port, uri, keyStart: schema + hostHeader };
}

/** Reads `proxy_pass`. nginx: ngx_http_proxy_pass. */
export function readPass(node: DirectiveNode, ctx: Context): ProxyPass {
  claimContent(ctx, 'proxy');
  const info = ctx.block.info as LocationInfo;
  if (info.name.endsWith('/') && info.kind !== 'nameless') {
    info.autoRedirect = true;
  }
  const text = node.args[0]!;
  if (text.includes('$')) {
    return { dynamic: ctx.complex(text), fixed: undefined, location: '' };
  }
  const found = scheme(text);
  if (found === undefined) {
    const hint = /^[a-z]+:\/\//i.test(text) ? 'it begins with `http://` or `https://`' : `write \`http://${text.replace(/^\/\//, '')}\``;
    return ctx.fail('invalid URL prefix', { arg: 0, hint });
  }
  const { schema, port } = found;
  const url = parseBackendUrl(text.slice(schema.length), { defaultPort: port, uriPart: true });
  if (typeof url === 'string') {
    return ctx.fail(`${url} in upstream "${text.slice(schema.length)}"`, { arg: 0 });
  }
  const declaration = declareGroup(ctx, url.host, url);
  info.backend = declaration;
  const mapped = info.kind === 'exact' || info.kind === 'prefix' || info.kind === 'prefix-final';
  if (!mapped && url.uri !== '') {
    ctx.fail(
      '"proxy_pass" cannot have URI part in location given by regular expression, or inside named location, or inside "if" statement, or inside "limit_except" block',
      { arg: 0 },
    );
  }
  return {
    dynamic: undefined,
    fixed: { url: text, declaration, vars: makeVars(url, schema, port, url.uri) },
    location: mapped ? info.name : '',
  };
}

/** Whether connections to the backend may need TLS. nginx: conf->ssl. */
export function usesTls(pass: ProxyPass): boolean {
  return pass.fixed === undefined || pass.fixed.vars.schema.length === 'https://'.length;
}

/** The value of a `proxy_pass` with variables for one request. */
export interface EvaluatedPass {
  readonly vars: ProxyVars;
  readonly target: ResolvedTarget;
  readonly tls: boolean;
}

/** Evaluates a URL with variables. Returns undefined, with the reason logged, for one that is malformed. nginx: ngx_http_proxy_eval. */
export function evaluatePass(r: Request, text: string): EvaluatedPass | undefined {
  const found = scheme(text);
  if (found === undefined || found.schema.length === text.length) {
    r.log(ERROR, `invalid URL prefix in "${text}"`);
    return undefined;
  }
  const { schema, port } = found;
  const rest = text.slice(schema.length);
  const url = parseBackendUrl(rest, { defaultPort: port, uriPart: true });
  if (typeof url === 'string') {
    r.log(ERROR, `${url} in upstream "${rest}"`);
    return undefined;
  }
  const uri = url.uri.startsWith('?') ? `/${url.uri}` : url.uri;
  const unix = url.family === 'unix';
  return {
    vars: makeVars(url, schema, port, uri),
    target: {
      host: url.host,
      port: unix ? 0 : url.port,
      noPort: url.noPort,
      unix,
      address: url.address,
    },
    tls: schema.length === 8,
  };
}
