import type { ComplexValue } from '../../../shared/value/complex.js';
import { parseBackendUrl } from '../../address/backend-url.js';
import type { Request } from '../../http/request/request.js';
import { type Context, claimContent } from '../../module.js';
import { type Declaration, declareGroup } from '../../upstream/group/group-config.js';

/** Where tunnels lead: to what a text with variables says of each request, or to a backend that is known in advance. */
export type TunnelPass =
  | { readonly dynamic: ComplexValue<Request>; readonly fixed: undefined }
  | { readonly dynamic: undefined; readonly fixed: Declaration };

/** What the client asks for. */
const AS_ASKED = '$host:$request_port';

/** Reads `tunnel_pass`. nginx: ngx_http_tunnel_pass. */
export function readTunnelPass(ctx: Context): TunnelPass {
  claimContent(ctx, 'tunnel');
  const text = ctx.node.args[0] ?? AS_ASKED;
  if (text.includes('$')) {
    return { dynamic: ctx.complex(text), fixed: undefined };
  }
  const url = parseBackendUrl(text, { defaultPort: 0, uriPart: false });
  if (typeof url === 'string') {
    return ctx.fail(`${url} in upstream "${text}"`, { arg: 0 });
  }
  return { dynamic: undefined, fixed: declareGroup(ctx, url.host, url) };
}
