import type { Result } from '../../task/codes.js';
import type { ClientWatcher } from './client-exchange.js';
import { endsWithClient, unwatchClient, watchClient } from './client-gone.js';
import type { Request } from './request.js';

/**
 * Lets a request wait until what is returned is called with a handler's code. It has no effect once the request has ended, which it does
 * if its client goes, as `watcher` sees it.
 */
export function waiting(r: Request, watcher: ClientWatcher = endsWithClient): (answer: () => Result) => void {
  let over = false;
  const end = (): void => {
    over = true;
  };
  r.onFinish(end);
  watchClient(r, watcher);
  return (answer) => {
    if (over) {
      return;
    }
    over = true;
    r.forget(end);
    unwatchClient(r, watcher);
    r.resume(answer());
  };
}
