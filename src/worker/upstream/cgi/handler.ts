import type { Request } from '../../http/request.js';
import { readBody, testExpect } from '../../http/request-body.js';
import type { LocationRuntime } from '../../http/runtime-types.js';
import type { WorkerEnv } from '../../module.js';
import { DONE, type Result } from '../../phases/codes.js';
import type { PhaseHandler } from '../../phases/phase.js';
import { startUnbuffered } from '../body-relay.js';
import type { UpstreamConf } from '../conf.js';
import { completeSettings } from '../directives.js';
import { startUpstream, UpstreamRequest, upstreamLogText } from '../engine.js';
import { makeHeaderKinds } from '../header-kinds.js';
import type { Exchange } from '../protocol.js';
import type { UpstreamSettings } from '../settings.js';
import { type BackendPass, evaluateBackend } from './backend-pass.js';

/** Headers of a responder that clients do not get. nginx: ngx_http_fastcgi_hide_headers. */
export const HIDDEN_BY_CGI = [
  'Status',
  'X-Accel-Expires',
  'X-Accel-Redirect',
  'X-Accel-Limit-Rate',
  'X-Accel-Buffering',
  'X-Accel-Charset',
] as const;

/** What a protocol for application servers brings along. */
export interface CgiProtocol {
  readonly module: string;
  /** Stands before the address in log lines. */
  readonly scheme: string;
  readonly settings: Readonly<UpstreamSettings>;
  readonly pass: BackendPass;
  readonly hidden: readonly string[];
  exchange(r: Request): Exchange;
}

const isPassed = (name: string, passHeaders: readonly string[]): boolean => passHeaders.some((passed) => passed.toLowerCase() === name);

/** Makes the content handler of a location whose requests go to an application server. nginx: ngx_http_fastcgi_handler. */
export function cgiHandler(env: WorkerEnv, location: LocationRuntime, protocol: CgiProtocol): PhaseHandler {
  const { module, scheme, settings, pass, hidden } = protocol;
  const conf: UpstreamConf = {
    module,
    settings: completeSettings(settings),
    kinds: makeHeaderKinds(hidden, settings.hideHeaders, settings.passHeaders),
    passServer: !isPassed('server', settings.hideHeaders),
    passDate: !isPassed('date', settings.hideHeaders),
    rewriter: undefined,
    changeBuffering: true,
    passEarlyHints: false,
    intercept404: false,
    noLiveStatus: env.compatible ? 502 : 503,
    tls: undefined,
    cache: undefined,
  };
  const { fixed, dynamic } = pass;
  const group = fixed === undefined ? undefined : location.server.http.upstreams.find(fixed.host, fixed.port, fixed.noPort);
  const unbuffered = !settings.requestBuffering && settings.passRequestBody;
  return (r: Request): Result => {
    const u = new UpstreamRequest(r, conf, protocol.exchange(r));
    r.upstream?.cleanup();
    r.upstream = u;
    r.upstreamLog = upstreamLogText;
    u.schema = scheme;
    if (dynamic === undefined) u.group = group;
    else {
      const target = evaluateBackend(r, dynamic.eval(r));
      if (target === undefined) return 500;
      u.resolved = target;
    }
    if (unbuffered && r === r.main && !r.chunkedIn && !r.stream.bodyDone(r)) {
      testExpect(r);
      startUnbuffered(u);
    } else if (r.contentLength < 0 && !r.chunkedIn) u.start();
    else readBody(r, startUpstream);
    return DONE;
  };
}
