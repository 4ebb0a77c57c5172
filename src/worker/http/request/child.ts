import type { Result } from '../../task/codes.js';
import type { BodyStage } from './body-stage.js';
import type { Request } from './request.js';
import type { SubrequestQueue } from './subrequest-queue.js';
import type { UpstreamWork } from './upstream-work.js';

/** What only a subrequest has: the many requests that are none are smaller without it. */
export interface Child {
  /** Nobody waits for it. */
  readonly background: boolean;
  /** The response waits for it, so that it need not go on without its client. */
  readonly heedsClient: boolean;
  /** Where its body goes; null drops it. */
  readonly sink: BodyStage | null;
  /** The sink is a place in the parent's response. */
  readonly placed: boolean;
  /** Called with each code that is about to end it; returns the one to go on with. nginx: r->post_subrequest. */
  readonly onCode: ((sr: Request, code: Result) => Result) | null;
  /** Called when it is over, whatever became of it. */
  readonly onEnd: ((sr: Request) => void) | null;
  /** Called when it ends, with its result. */
  onDone: ((sr: Request, rc: Result) => void) | null;
  /** The subrequest has not begun, and waits in the main request's {@link Children.queue}. */
  queued: boolean;
}

/** What only a main request that has had a subrequest has. */
export class Children {
  /**
   * How many subrequests count against `MAX_COUNT`. One that ended no longer counts if the main request itself began it, because the
   * length of one page bounds what it includes. Subrequests of subrequests count for good, because pages may include themselves.
   */
  count = 0;
  /** Subrequests under way that end with the main request. */
  readonly dependents = new Set<Request>();
  /** What backends do for subrequests of all kinds, those in the background included, in the order in which it began. */
  readonly works = new Set<UpstreamWork>();
  /** Subrequests that have not begun. */
  readonly queue: SubrequestQueue;
  /** How many in the background the main request does not end before. */
  awaited = 0;
  /** All else of the main request is over. */
  awaiting = false;

  constructor(queue: SubrequestQueue) {
    this.queue = queue;
  }
}
