import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { predicates } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { earlyHintsSlot } from '../../http/headers/early-hints.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope } from '../../module.js';

const scope = defineScope<{ earlyHints: readonly ComplexValue<Request>[] }>({
  fields: { earlyHints: inherit<readonly ComplexValue<Request>[]>([]) },
  directives: {
    early_hints: { in: In.HTTP | In.SERVER | In.LOCATION, args: { min: 1 }, set: predicates('earlyHints') },
  },
});

/** Says when 103 responses of backends are passed on to clients. */
export const earlyHintsModule = defineModule({
  name: 'early_hints',
  location: scope,
  slot: earlyHintsSlot,
});
