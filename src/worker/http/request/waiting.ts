import type { Result } from '../../task/codes.js';
import { endsWithClient, unwatchClient, watchClient } from './client-gone.js';
import type { Request } from './request.js';

/**
 * Lets a request wait until what is returned is called with a handler's code. It has no effect once the request has ended, which it does
 * if its client goes.
 */
export function waiting(r: Request): (answer: () => Result) => void {
  let over = false;
  const end = (): void => {
    over = true;
  };
  r.onFinish(end);
  watchClient(r, endsWithClient);
  return (answer) => {
    if (over) {
      return;
    }
    over = true;
    r.forget(end);
    unwatchClient(r, endsWithClient);
    r.resume(answer());
  };
}
