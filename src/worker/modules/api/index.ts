import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import { claimContent, defineModule, defineScope } from '../../module.js';
import { writeParameter } from '../../status/write-parameter.js';
import { declarations } from '../../upstream/group/group-config.js';
import { answerRequest } from './handler.js';

const scope = defineScope<{ write: boolean }>({
  fields: { write: own(false) },
  directives: {
    api: {
      in: In.LOCATION,
      args: [0, 1],
      set(conf, _node, ctx) {
        conf.write = writeParameter(ctx);
        if (conf.write) {
          ctx.conf(declarations).filled = true;
        }
        claimContent(ctx, 'api');
      },
    },
  },
});

/** The API by which programs read what the server does. NGINX Plus: ngx_http_api_module. */
export const apiModule = defineModule({
  name: 'api',
  location: scope,
  handler: ({ write }, env, location) => answerRequest(write, env, location),
});
