import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { DONE, type Result } from '../../task/codes.js';
import { backendSlot } from '../../upstream/exchange/location-backend.js';
import { passRequest } from '../../upstream/exchange/pass-request.js';
import { noBackend, UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { groupsOf } from '../../upstream/group/groups.js';
import type { ProxyLocation } from './compiled-location.js';
import { ProxyExchange } from './exchange.js';
import { ProxyHttp2Exchange } from './http2-exchange.js';
import { evaluatePass } from './pass.js';
import type { ProxyVars } from './settings.js';
import type { ProxyContext } from './target.js';

/** The exchange of the current request, for `$proxy_host` and its kin. */
export const proxyContext = contextSlot<ProxyContext>();

const NO_VARS: ProxyVars = { schema: '', hostHeader: '', port: '', uri: '', keyStart: '' };

/** Makes the content handler of a location that passes requests on. nginx: ngx_http_proxy_handler. */
export function makeHandler(compiled: ProxyLocation, location: LocationRuntime): PhaseHandler {
  const { fixed, dynamic } = compiled.pass;
  const group =
    fixed === undefined
      ? undefined
      : groupsOf(location.server.http).find(fixed.declaration.host, fixed.declaration.port, fixed.declaration.noPort);
  const tls = fixed?.vars.schema.length === 8;
  const { http2 } = compiled;
  const unbuffered = !compiled.conf.settings.requestBuffering && compiled.body === undefined && compiled.conf.settings.passRequestBody;
  if (group !== undefined && http2 !== undefined) {
    location.put(backendSlot, {
      group,
      askByHttp2(r) {
        const exchange = new ProxyHttp2Exchange(compiled, http2, { ...fixed!.vars, uri: '' });
        const u = new UpstreamRequest(r, compiled.conf, exchange);
        u.passTo(fixed!.vars.schema, tls, group);
        proxyContext.set(r, exchange);
        return { u, exchange };
      },
    });
  } else if (group !== undefined) {
    location.put(backendSlot, {
      group,
      ask(r) {
        const reader = new ProxyExchange(compiled, { ...fixed!.vars, uri: '' });
        const u = new UpstreamRequest(r, compiled.conf, reader);
        u.passTo(fixed!.vars.schema, tls, group);
        proxyContext.set(r, reader);
        return { u, reader };
      },
    });
  }
  return (r: Request): Result => {
    if (r.location !== location) {
      return noBackend(r);
    }
    const vars = fixed === undefined ? NO_VARS : fixed.vars;
    const exchange = http2 === undefined ? new ProxyExchange(compiled, vars) : new ProxyHttp2Exchange(compiled, http2, vars);
    const u = new UpstreamRequest(r, compiled.conf, exchange);
    u.attach();
    proxyContext.set(r, exchange);
    if (dynamic === undefined) {
      u.passTo(fixed!.vars.schema, tls, group);
    } else {
      const evaluated = evaluatePass(r, dynamic.eval(r));
      if (evaluated === undefined) {
        return 500;
      }
      exchange.vars = evaluated.vars;
      u.passToNamed(evaluated.vars.schema, evaluated.tls, evaluated.target);
    }
    passRequest(r, u, unbuffered && (!r.chunkedIn || compiled.http11 || http2 !== undefined));
    return DONE;
  };
}
