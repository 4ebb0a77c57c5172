// The one place that decides whether what is done for a request ends when its client goes.
import { INFO } from '../../../shared/log/level.js';
import { FAILED } from '../../task/codes.js';
import type { ClientWatcher } from './client-exchange.js';
import { CLIENT_CLOSED_REQUEST } from './codes.js';
import type { Request } from './request.js';
import type { UpstreamWork } from './upstream-work.js';

/**
 * Has `watcher` told when the client of a request goes; null: nobody. Work that nobody watches for goes on until it has something to
 * send. nginx: r->read_event_handler, which is ngx_http_block_reading unless somebody waits.
 */
export function watchClient(r: Request, watcher: ClientWatcher | null): void {
  const { main } = r;
  main.watcher = watcher;
  if (watcher !== null && main.clientExchange.clientGone) {
    process.nextTick(tellLate, main, watcher);
  }
}

/** Takes a watcher back, unless another one has taken its place. */
export function unwatchClient(r: Request, watcher: ClientWatcher): void {
  const { main } = r;
  if (main.watcher === watcher) {
    main.watcher = null;
  }
}

function tellLate(main: Request, watcher: ClientWatcher): void {
  if (main.watcher === watcher && !main.finished) {
    watcher.clientGone(main, '');
  }
}

/**
 * The client of a main request has gone: tells the first subrequest that the response waits for, which in nginx is the connection's
 * data, or else whoever watches. `reason`: see {@link ClientWatcher}.
 */
export function clientGone(main: Request, reason: string | null): void {
  for (const work of main.children?.works ?? NONE) {
    if (work.r.child!.heedsClient) {
      work.clientGone(main, reason);
      return;
    }
  }
  main.watcher?.clientGone(main, reason);
}

/**
 * The client of a main request has gone, and takes nothing that may still be sent. What is being sent ends (`sending`: a piece is on its
 * way); what is still at work goes on, and ends when it has something to send. nginx: ngx_http_test_reading in ngx_http_set_write_handler.
 */
export function clientLost(main: Request, reason: string | null, sending: boolean): void {
  clientGone(main, reason);
  if (!main.finished && (sending || onlySends(main))) {
    main.terminate(FAILED);
  }
}

function onlySends({ headerSent, source, children }: Request): boolean {
  return headerSent && source !== null && source.works !== true && (children === null || children.dependents.size === 0);
}

const NONE: readonly UpstreamWork[] = [];

/** Ends a request that only waits. nginx: ngx_http_test_reading. */
export const endsWithClient: ClientWatcher = {
  clientGone(r: Request, reason: string | null): void {
    r.log(INFO, `client prematurely closed connection${reason ?? ''}`);
    r.finalize(CLIENT_CLOSED_REQUEST);
  },
};

/** Ends a request that only waits, unless its client has ended no more than its side: that one still takes a response. */
export const endsWithoutClient: ClientWatcher = {
  clientGone(r: Request, reason: string | null): void {
    if (reason !== '') {
      endsWithClient.clientGone(r, reason);
    }
  },
};
