import { In } from '../../../shared/config/context.js';
import { requestAddress } from '../../http/headers/request-address.js';
import { readGeo } from '../../lookup/geo-block.js';
import { defineModule, defineSharedScope } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import { taskAddress } from '../../task/task-address.js';

const scope = defineSharedScope<object>({
  fields: {},
  directives: {
    // Syntax: geo [$address] $variable { ... }
    geo: {
      in: In.HTTP | In.STREAM,
      args: [1, 2],
      block: 'entries',
      set: (_conf, node, ctx) => readGeo<ClientTask>(node, ctx, ctx.block.context === In.STREAM ? taskAddress : requestAddress),
    },
  },
});

/** Variables whose values depend on the client's address. nginx: ngx_http_geo_module, ngx_stream_geo_module. */
export const geoModule = defineModule({ name: 'geo', main: scope });
