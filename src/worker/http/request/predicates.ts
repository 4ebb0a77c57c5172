import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Request } from './request.js';

/** The first of the values that is neither empty nor `0`, if any is. nginx: ngx_http_test_predicates. */
export function firstTrue(r: Request, values: readonly ComplexValue<Request>[]): ComplexValue<Request> | undefined {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!.eval(r);
    if (value !== '' && value !== '0') {
      return values[i];
    }
  }
  return undefined;
}
