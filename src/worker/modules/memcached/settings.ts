import type { ComplexValue } from '../../../shared/value/complex.js';
import type { BackendPass } from '../../cgi/backend-pass.js';
import type { Request } from '../../http/request/request.js';
import type { UpstreamSettings } from '../../upstream/settings/settings.js';

/** All `memcached_*` settings of a location. nginx: ngx_http_memcached_loc_conf_t. */
export interface MemcachedSettings extends UpstreamSettings {
  pass: BackendPass | undefined;
  key: ComplexValue<Request> | undefined;
  /** Bits of an entry's flags that say it is compressed; 0: none does. */
  gzipFlag: number;
}
