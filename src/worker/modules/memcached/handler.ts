import type { BackendPass } from '../../cgi/backend-pass.js';
import type { WorkerEnv } from '../../env.js';
import { setContentType } from '../../http/headers/content-type.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { discardBody } from '../../http/request/request-body.js';
import { METHOD } from '../../http/syntax/method.js';
import { DONE, type Result } from '../../task/codes.js';
import { completeSettings } from '../../upstream/directives/directives.js';
import type { UpstreamConf } from '../../upstream/exchange/upstream-conf.js';
import { noBackend, UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { groupsOf } from '../../upstream/group/groups.js';
import { HeaderKinds } from '../../upstream/response/header-kinds.js';
import { MemcachedExchange } from './exchange.js';
import type { MemcachedSettings } from './settings.js';

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
    passInterim: false,
    intercept404: true,
    noLiveStatus: env.compatible ? 502 : 503,
    tls: undefined,
    cache: undefined,
  };
  const { fixed } = pass;
  const group = groupsOf(location.server.http).find(fixed!.host, fixed!.port, fixed!.noPort);
  const { gzipFlag } = settings;
  const key = settings.key!;
  return (r: Request): Result => {
    if (r.location !== location) {
      return noBackend(r);
    }
    if ((r.methodBit & (METHOD.GET | METHOD.HEAD)) === 0) {
      return 405;
    }
    const code = discardBody(r);
    if (code !== 0) {
      return code;
    }
    setContentType(r);
    const u = new UpstreamRequest(r, conf, new MemcachedExchange(key, gzipFlag));
    u.attach();
    u.passTo('memcached://', false, group);
    u.start();
    return DONE;
  };
}
