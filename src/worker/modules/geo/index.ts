import { In } from '../../../shared/config/context.js';
import { forwardedAddress } from '../../address/forwarded-address.js';
import { headerValues } from '../../http/headers/header-values.js';
import type { Request } from '../../http/request/request.js';
import { type GeoSource, readGeo } from '../../lookup/geo-block.js';
import { defineModule, defineSharedScope } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';

const ofSession: GeoSource<ClientTask> = { client: (task) => task.connection.remoteAddress };

/** Requests can name the client that a proxy forwards. */
const ofRequest: GeoSource<Request> = {
  client: (r) => r.connection.remoteAddress,
  forwarded(r, address, proxies, recursive) {
    return forwardedAddress(address, headerValues(r, 'x-forwarded-for'), proxies, recursive)?.address ?? address;
  },
};

const scope = defineSharedScope<object>({
  fields: {},
  directives: {
    // Syntax: geo [$address] $variable { ... }
    geo: {
      in: In.HTTP | In.STREAM,
      args: [1, 2],
      block: 'entries',
      set: (_conf, node, ctx) => readGeo<ClientTask>(node, ctx, ctx.block.context === In.STREAM ? ofSession : ofRequest),
    },
  },
});

/** Variables whose values depend on the client's address. nginx: ngx_http_geo_module, ngx_stream_geo_module. */
export const geoModule = defineModule({ name: 'geo', main: scope });
