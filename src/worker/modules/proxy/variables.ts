import type { Variable } from '../../module.js';
import { proxyContext } from './handler.js';

/** nginx: ngx_http_proxy_vars. */
export const proxyVariables: readonly Variable[] = [
  { name: 'proxy_host', cacheable: false, changeable: true, get: (r) => proxyContext.get(r)?.vars.hostHeader },
  { name: 'proxy_port', cacheable: false, changeable: true, get: (r) => proxyContext.get(r)?.vars.port },
  {
    name: 'proxy_add_x_forwarded_for',
    get(r) {
      const before = r.head.joined('x-forwarded-for', ', ');
      return before === undefined ? r.connection.remoteAddress : `${before}, ${r.connection.remoteAddress}`;
    },
  },
  {
    name: 'proxy_internal_body_length',
    cacheable: false,
    get(r) {
      const length = proxyContext.get(r)?.bodyLength ?? -1;
      return length < 0 ? undefined : String(length);
    },
  },
  { name: 'proxy_internal_chunked', cacheable: false, get: (r) => (proxyContext.get(r)?.chunked ? 'chunked' : undefined) },
];
