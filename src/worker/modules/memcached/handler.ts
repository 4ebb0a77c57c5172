import { setContentType } from '../../http/content-type.js';
import { METHOD } from '../../http/method.js';
import type { Request } from '../../http/request.js';
import { discardBody } from '../../http/request-body.js';
import type { LocationRuntime } from '../../http/runtime-types.js';
import type { WorkerEnv } from '../../module.js';
import { DONE, type Result } from '../../phases/codes.js';
import type { PhaseHandler } from '../../phases/phase.js';
import type { BackendPass } from '../../upstream/cgi/backend-pass.js';
import type { UpstreamConf } from '../../upstream/conf.js';
import { completeSettings } from '../../upstream/directives.js';
import { noBackend, UpstreamRequest, upstreamLogText } from '../../upstream/engine.js';
import { HeaderKinds } from '../../upstream/header-kinds.js';
import { MemcachedExchange } from './exchange.js';
import type { MemcachedSettings } from './index.js';

/** Makes the content handler of a location. nginx: ngx_http_memcached_handler. */
export function memcachedHandler(
  settings: Readonly<MemcachedSettings>,
  pass: BackendPass,
  env: WorkerEnv,
  location: LocationRuntime,
): PhaseHandler {
  const conf: UpstreamConf = {
    module: 'memcached',
    settings: completeSettings({
      ...settings,
      buffering: false,
      interceptErrors: true,
      forceRanges: true,
      passRequestHeaders: false,
      passRequestBody: false,
    }),
    kinds: new HeaderKinds([], [], []),
    passServer: false,
    passDate: false,
    rewriter: undefined,
    changeBuffering: false,
    passEarlyHints: false,
    intercept404: true,
    noLiveStatus: env.compatible ? 502 : 503,
    tls: undefined,
    cache: undefined,
  };
  const { fixed } = pass;
  const group = location.server.http.upstreams.find(fixed!.host, fixed!.port, fixed!.noPort);
  const { gzipFlag } = settings;
  const key = settings.key!;
  return (r: Request): Result => {
    if (r.location !== location) return noBackend(r);
    if ((r.methodBit & (METHOD.GET | METHOD.HEAD)) === 0) return 405;
    const code = discardBody(r);
    if (code !== 0) return code;
    setContentType(r);
    const u = new UpstreamRequest(r, conf, new MemcachedExchange(key, gzipFlag));
    r.upstream?.cleanup();
    r.upstream = u;
    r.upstreamLog = upstreamLogText;
    u.schema = 'memcached://';
    u.group = group;
    u.start();
    return DONE;
  };
}
