import { constantValue } from '../../../shared/value/complex.js';
import { evaluateBackend, mayUseTls } from '../../cgi/backend-pass.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { HeaderSlot } from '../../http/syntax/header-names.js';
import { DONE, type Result } from '../../task/codes.js';
import { completeSettings } from '../../upstream/directives/directives.js';
import { compileHttp2Headers, type Http2HeaderSource } from '../../upstream/exchange/http2-head.js';
import { backendSlot } from '../../upstream/exchange/location-backend.js';
import { passRequest } from '../../upstream/exchange/pass-request.js';
import type { UpstreamConf } from '../../upstream/exchange/upstream-conf.js';
import { noBackend, UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { groupsOf } from '../../upstream/group/groups.js';
import { HeaderKinds } from '../../upstream/response/header-kinds.js';
import { clientContextsOf, TlsClient } from '../../upstream/tls/tls-client.js';
import { GrpcCall, GrpcExchange, type GrpcPlan } from './exchange.js';
import type { GrpcSettings } from './settings.js';
import { GrpcWebExchange, grpcType, isGrpcWeb } from './web-exchange.js';

/** nginx: ngx_http_grpc_hide_headers. */
const HIDDEN = ['Date', 'Server', 'X-Accel-Expires', 'X-Accel-Redirect', 'X-Accel-Limit-Rate', 'X-Accel-Buffering', 'X-Accel-Charset'];

/** The TE of a client that takes trailers. nginx: $grpc_internal_trailers. */
const trailersValue: Http2HeaderSource['value'] = {
  text: '$grpc_internal_trailers',
  constant: undefined,
  eval: (r) => (r.head.known(HeaderSlot.te)?.toLowerCase().includes('trailers') ? 'trailers' : ''),
};

/** nginx: ngx_http_grpc_headers. */
const DEFAULTS: readonly { readonly name: string; readonly value?: Http2HeaderSource['value'] }[] = [
  { name: 'Content-Length', value: 'body-length' },
  { name: 'TE', value: trailersValue },
  { name: 'Host' },
  { name: 'Connection' },
  { name: 'Proxy-Connection' },
  { name: 'Transfer-Encoding' },
  { name: 'Keep-Alive' },
  { name: 'Expect' },
  { name: 'Upgrade' },
];

/** What a call of our own has in its head. */
const CALL: readonly Http2HeaderSource[] = [
  { name: 'Content-Type', value: constantValue('application/grpc') },
  { name: 'TE', value: constantValue('trailers') },
];

/** The lines of the configuration, but for those that have a name of `own`. */
const without = (sources: readonly Http2HeaderSource[], own: readonly Http2HeaderSource[]): readonly Http2HeaderSource[] =>
  sources.filter(({ name }) => !own.some((line) => line.name.toLowerCase() === name.toLowerCase()));

/** How calls of browsers go on: as those of other clients of gRPC, which take trailers. */
function webPlan(sources: readonly Http2HeaderSource[], conf: UpstreamConf, maxStreams: number): { plan: GrpcPlan; conf: UpstreamConf } {
  const own: readonly Http2HeaderSource[] = [
    { name: 'Content-Type', value: { text: 'application/grpc', constant: undefined, eval: grpcType } },
    { name: 'TE', value: constantValue('trailers') },
    // Text gets shorter, and the server needs no length.
    { name: 'Content-Length', value: constantValue('') },
  ];
  return {
    plan: { headers: compileHttp2Headers([...own, ...without(sources, own)], DEFAULTS), maxStreams },
    // Their trailers are a part of the body.
    conf: { ...conf, settings: { ...conf.settings, passTrailers: false } },
  };
}

/** Makes the content handler of a location that passes requests on. nginx: ngx_http_grpc_handler. */
export function grpcHandler(settings: Readonly<GrpcSettings>, env: WorkerEnv, location: LocationRuntime): PhaseHandler {
  const pass = settings.pass!;
  const { http } = location.server;
  const conf: UpstreamConf = {
    module: 'grpc',
    settings: completeSettings({ ...settings, buffering: false, requestBuffering: false, passTrailers: true }),
    kinds: new HeaderKinds(HIDDEN, settings.hideHeaders, settings.passHeaders),
    passServer: false,
    passDate: false,
    rewriter: undefined,
    changeBuffering: false,
    passInterim: true,
    intercept404: false,
    noLiveStatus: env.compatible ? 502 : 503,
    tls: mayUseTls(pass) ? new TlsClient(settings, env.named, clientContextsOf(http), true) : undefined,
    cache: undefined,
  };
  const sources = settings.headers.map(({ name, value }) => ({ name, value: value.value }));
  const plan: GrpcPlan = { headers: compileHttp2Headers(sources, DEFAULTS), maxStreams: settings.maxStreams };
  const web = settings.web ? webPlan(sources, conf, settings.maxStreams) : undefined;
  const { fixed, dynamic, tls, schemes } = pass;
  const schema = tls ? 'grpcs://' : 'grpc://';
  const group = fixed === undefined ? undefined : groupsOf(http).find(fixed.host, fixed.port, fixed.noPort);
  if (group !== undefined) {
    const calls: GrpcPlan = { headers: compileHttp2Headers([...CALL, ...without(sources, CALL)], DEFAULTS), maxStreams: 1 };
    location.put(backendSlot, {
      group,
      askByHttp2(r, message) {
        const exchange = new GrpcCall(calls, pass.host, message);
        const u = new UpstreamRequest(r, conf, exchange);
        u.passTo(schema, tls, group);
        return { u, exchange };
      },
    });
  }
  return (r: Request): Result => {
    if (r.location !== location) {
      return noBackend(r);
    }
    const evaluated = dynamic === undefined ? undefined : evaluateBackend(r, dynamic.eval(r), schemes);
    if (dynamic !== undefined && evaluated === undefined) {
      return 500;
    }
    const host = evaluated?.host ?? pass.host;
    const u =
      web !== undefined && isGrpcWeb(r)
        ? new UpstreamRequest(r, web.conf, new GrpcWebExchange(r, web.plan, host))
        : new UpstreamRequest(r, conf, new GrpcExchange(plan, host));
    u.attach();
    if (evaluated === undefined) {
      u.passTo(schema, tls, group);
    } else {
      u.passToNamed(evaluated.schema ?? 'grpc://', evaluated.tls, evaluated.target);
    }
    passRequest(r, u, true);
    return DONE;
  };
}
