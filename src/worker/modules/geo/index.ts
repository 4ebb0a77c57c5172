import { In } from '../../../shared/config/context.js';
import { readGeo } from '../../../shared/lookup/geo-block.js';
import { forwardedAddress } from '../../../shared/net/forwarded-address.js';
import { headerValues } from '../../http/message/header-values.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope } from '../../module.js';

const scope = defineScope<object>({
  fields: {},
  directives: {
    // Syntax: geo [$address] $variable { ... }
    geo: {
      in: In.HTTP,
      args: [1, 2],
      block: 'entries',
      set(_conf, node, ctx) {
        readGeo<Request>(node, ctx, {
          client: (r) => r.connection.remoteAddress,
          forwarded(r, address, proxies, recursive) {
            return forwardedAddress(address, headerValues(r, 'x-forwarded-for'), proxies, recursive)?.address ?? address;
          },
        });
      },
    },
  },
});

/** Variables whose values depend on the client's address. nginx: ngx_http_geo_module. */
export const geoModule = defineModule({ name: 'geo', main: scope });
