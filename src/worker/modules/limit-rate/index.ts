import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { ERROR } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { type Rates, ratesSlot } from '../../http/body/rate.js';
import type { Request } from '../../http/request/request.js';
import { type Context, defineModule, defineScope } from '../../module.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION | In.LOCATION_IF;

/** A size that may hold variables. nginx: ngx_http_set_complex_value_size_slot. */
const rate = (key: keyof Rates) => (conf: Partial<Rates>, node: { readonly args: readonly string[] }, ctx: Context) => {
  if (conf[key] !== undefined) {
    ctx.reject('is duplicate');
  }
  const value = ctx.complex(node.args[0]!);
  if (value.constant !== undefined && parseSize(value.constant) === undefined) {
    ctx.reject('invalid value', { arg: 0 });
  }
  conf[key] = value;
};

const scope = defineScope<Rates>({
  fields: {
    limitRate: inherit<ComplexValue<Request> | undefined>(undefined),
    limitRateAfter: inherit<ComplexValue<Request> | undefined>(undefined),
  },
  directives: {
    limit_rate: { in: ANYWHERE, args: 1, set: rate('limitRate') },
    limit_rate_after: { in: ANYWHERE, args: 1, set: rate('limitRateAfter') },
  },
});

/** Limits how fast one response is sent. The pace itself is kept by `body/rate.ts`. */
export const limitRateModule = defineModule({
  name: 'limit_rate',
  location: scope,
  slot: ratesSlot,
  variables: [
    {
      name: 'limit_rate',
      cacheable: false,
      changeable: true,
      // That of the location counts, and is shown, once the response is sent.
      get: (r) => String(r.limitRate),
      set(r, value) {
        const bytes = parseSize(value);
        if (bytes === undefined) {
          r.log(ERROR, `invalid $limit_rate "${value}"`);
          return;
        }
        r.limitRate = bytes;
        r.main.limitRate = bytes;
        r.main.limitRateSet = true;
      },
    },
  ],
});
