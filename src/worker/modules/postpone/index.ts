import { PostponeStage } from '../../http/body/postpone-stage.js';
import { defineModule } from '../../module.js';

/** Puts the bodies of subrequests in their places, for the filters that ask for it. nginx: ngx_http_postpone_filter_module. */
export const postponeModule = defineModule({
  name: 'postpone',
  bodyFilter: () => (r, next) => {
    if (!r.postpones) {
      return next;
    }
    const stage = new PostponeStage(r, next);
    r.postponed = stage;
    return stage;
  },
});
