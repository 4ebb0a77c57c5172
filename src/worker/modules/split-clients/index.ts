import { In } from '../../../shared/config/context.js';
import { readSplitClients } from '../../lookup/split-clients-block.js';
import { defineModule, defineSharedScope } from '../../module.js';

const scope = defineSharedScope<object>({
  fields: {},
  directives: {
    // Syntax: split_clients string $variable { ... }
    split_clients: { in: In.HTTP | In.STREAM, args: 2, block: 'entries', set: (_conf, node, ctx) => readSplitClients(node, ctx) },
  },
});

/** Variables that divide clients into groups for A/B tests. nginx: ngx_http_split_clients_module. */
export const splitClientsModule = defineModule({ name: 'split_clients', main: scope });
