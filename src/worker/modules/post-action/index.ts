import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { text } from '../../../shared/config/slots.js';
import { postActionSlot } from '../../http/request/post-action.js';
import { defineModule, defineScope } from '../../module.js';

const scope = defineScope<{ target: string | undefined }>({
  fields: { target: inherit<string | undefined>(undefined) },
  directives: {
    post_action: { in: In.HTTP | In.SERVER | In.LOCATION | In.LOCATION_IF, args: 1, set: text('target') },
  },
});

/** Sends a finished request through another location. nginx: ngx_http_post_action. */
export const postActionModule = defineModule({
  name: 'post_action',
  location: scope,
  slot: postActionSlot,
});
