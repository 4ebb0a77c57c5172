import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { int } from '../../../shared/config/slots.js';
import { defineModule, defineScope } from '../../module.js';
import { rangeBody } from './body.js';
import { rangeHeader } from './header.js';
import { UNLIMITED } from './parse-ranges.js';

const scope = defineScope<{ maxRanges: number }>({
  fields: { maxRanges: inherit(UNLIMITED) },
  directives: { max_ranges: { in: In.HTTP | In.SERVER | In.LOCATION, args: 1, set: int('maxRanges') } },
});

/**
 * Decides which parts of a response are sent. Runs late, when the filters that change the body have taken back the
 * offer of ranges. nginx: ngx_http_range_header_filter_module.
 */
export const rangeHeaderModule = defineModule({
  name: 'range_header',
  location: scope,
  headerFilter: ({ maxRanges }) => (maxRanges === 0 ? undefined : rangeHeader(maxRanges)),
});

/** Cuts the parts out of the body, before any other filter. nginx: ngx_http_range_body_filter_module. */
export const rangeBodyModule = defineModule({
  name: 'range_body',
  bodyFilter: () => rangeBody,
});
