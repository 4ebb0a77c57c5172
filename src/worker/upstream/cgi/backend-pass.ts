import { ERROR as ERR } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/value.js';
import type { LocationInfo } from '../../http/location-info.js';
import type { Request } from '../../http/request.js';
import { type Context, claimContent } from '../../module.js';
import type { ResolvedTarget } from '../conf.js';
import { type Declaration, declareGroup } from '../group-config.js';
import { parseBackendUrl } from '../url.js';

/** A `fastcgi_pass` line, or that of a kindred protocol: an address or a group, without scheme and path. */
export interface BackendPass {
  readonly dynamic: ComplexValue<Request> | undefined;
  readonly fixed: Declaration | undefined;
  /** May stand before an address, in any case; empty where the protocol has none. */
  readonly scheme: string;
}

/** Reads an address; `module` is the content handler that the location gets. `scheme` may stand before it. nginx: ngx_http_fastcgi_pass. */
export function readBackendPass(ctx: Context, module: string, scheme = ''): BackendPass {
  claimContent(ctx, module);
  const info = ctx.block.info as LocationInfo;
  if (info.name.endsWith('/') && info.kind !== 'nameless') info.autoRedirect = true;
  const text = ctx.node.args[0]!;
  if (text.includes('$')) return { dynamic: ctx.complex(text), fixed: undefined, scheme };
  const url = parseBackendUrl(withoutScheme(text, scheme), { defaultPort: 0, uriPart: false });
  if (typeof url === 'string') return ctx.fail(`${url} in upstream "${text}"`, { arg: 0 });
  return { dynamic: undefined, fixed: declareGroup(ctx, url.host, url), scheme };
}

/** An address without the scheme, which only some protocols have. */
function withoutScheme(text: string, scheme: string): string {
  return scheme !== '' && text.slice(0, scheme.length).toLowerCase() === scheme ? text.slice(scheme.length) : text;
}

/** Evaluates an address with variables. Returns undefined, with the reason logged, for one that is malformed. nginx: ngx_http_fastcgi_eval. */
export function evaluateBackend(r: Request, given: string, scheme: string): ResolvedTarget | undefined {
  const text = withoutScheme(given, scheme);
  const url = parseBackendUrl(text, { defaultPort: 0, uriPart: false });
  if (typeof url === 'string') {
    r.log(ERR, `${url} in upstream "${text}"`);
    return undefined;
  }
  const unix = url.family === 'unix';
  return { host: url.host, port: unix ? 0 : url.port, noPort: url.noPort, unix, address: url.address };
}
