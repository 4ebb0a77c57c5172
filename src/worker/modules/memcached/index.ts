import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { bits, int } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { type BackendPass, readBackendPass } from '../../cgi/backend-pass.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope } from '../../module.js';
import { upstreamDirectives, upstreamFields } from '../../upstream/directives/directives.js';
import { FailureType } from '../../upstream/settings/failure.js';
import { memcachedHandler } from './handler.js';
import type { MemcachedSettings } from './settings.js';

/** nginx: ngx_http_memcached_next_upstream_masks. */
const nextUpstreamWords = {
  error: FailureType.ERROR,
  timeout: FailureType.TIMEOUT,
  invalid_response: FailureType.INVALID_HEADER,
  not_found: FailureType.HTTP_404,
  off: FailureType.OFF,
} as const;

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

const scope = defineScope<MemcachedSettings>({
  fields: {
    ...upstreamFields,
    pass: inherit<BackendPass | undefined>(undefined),
    key: inherit<ComplexValue<Request> | undefined>(undefined),
    gzipFlag: inherit(0),
  },
  directives: {
    ...upstreamDirectives('memcached'),
    memcached_pass: {
      in: In.LOCATION | In.LOCATION_IF,
      args: 1,
      set(conf, _node, ctx) {
        if (conf.pass !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.pass = readBackendPass(ctx, 'memcached');
        conf.key = ctx.complex('$memcached_key');
      },
    },
    memcached_next_upstream: { in: ANYWHERE, args: { min: 1 }, set: bits('nextUpstream', nextUpstreamWords) },
    memcached_gzip_flag: { in: ANYWHERE, args: 1, set: int('gzipFlag') },
  },
});

/** Answers requests with entries of memcached servers. nginx: ngx_http_memcached_module. */
export const memcachedModule = defineModule({
  name: 'memcached',
  location: scope,
  handler: (conf, env, location) => (conf.pass === undefined ? undefined : memcachedHandler(conf, conf.pass, env, location)),
});
