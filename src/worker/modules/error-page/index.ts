import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { parseNumber } from '../../../shared/config/language/units.js';
import { flag } from '../../../shared/config/slots.js';
import { type ErrorPage, type ErrorPageSettings, errorPageSlot } from '../../http/request/error-page.js';
import { defineModule, defineScope } from '../../module.js';

const scope = defineScope<ErrorPageSettings>({
  fields: {
    errorPages: inherit<readonly ErrorPage[]>([]),
    recursiveErrorPages: inherit(false),
    msiePadding: inherit(true),
    msieRefresh: inherit(false),
  },
  directives: {
    // nginx: ngx_http_core_error_page.
    error_page: {
      in: In.HTTP | In.SERVER | In.LOCATION | In.LOCATION_IF,
      args: { min: 2 },
      set(conf, node, ctx) {
        const args = node.args;
        const target = args[args.length - 1]!;
        let codes = args.slice(0, -1);
        let overwrite = -1;
        const response = codes[codes.length - 1]!;
        if (response.startsWith('=')) {
          codes = codes.slice(0, -1);
          if (response.length > 1) {
            overwrite = parseNumber(response.slice(1)) ?? ctx.fail(`invalid value "${response}"`, { arg: codes.length });
          } else {
            overwrite = 0;
          }
          if (codes.length === 0) {
            ctx.fail(`invalid value "${response}"`, { arg: 0, hint: 'name the statuses first: `error_page 404 =200 /empty.gif;`' });
          }
        }
        const value = ctx.complex(target);
        const pages = codes.map((code, i): ErrorPage => {
          const status = parseNumber(code);
          if (status === undefined || status === 499) {
            return ctx.fail(`invalid value "${code}"`, { arg: i });
          }
          if (status < 300 || status > 599) {
            ctx.fail(`value "${code}" must be between 300 and 599`, { arg: i });
          }
          // A status of nginx's own keeps saying 400 to the client.
          const shown = overwrite === -1 && [494, 495, 496, 497].includes(status) ? 400 : overwrite;
          return { status, overwrite: shown, target: value };
        });
        conf.errorPages = [...(conf.errorPages ?? []), ...pages];
      },
    },
    msie_padding: { in: In.HTTP | In.SERVER | In.LOCATION, args: 'flag', set: flag('msiePadding') },
    msie_refresh: { in: In.HTTP | In.SERVER | In.LOCATION, args: 'flag', set: flag('msieRefresh') },
    recursive_error_pages: { in: In.HTTP | In.SERVER | In.LOCATION, args: 'flag', set: flag('recursiveErrorPages') },
  },
});

/** Answers errors with pages of the configuration's own. */
export const errorPageModule = defineModule({
  name: 'error_page',
  location: scope,
  slot: errorPageSlot,
});
