import { AtTickEnd, endOfTick, type TickTask } from '../../../shared/time/end-of-tick.js';
import { logUri } from './debug-lines.js';
import { MAX_SUBREQUESTS, type Request } from './request.js';
import { PhaseStep, runPhases, startPhases } from './run-phases.js';

/** How many subrequests of one main request begin in one tick. */
const PER_TICK = 16;
/** How many are under way before only the one begins that the client waits for. */
const UNDER_WAY = 1000;

/** Subrequests of one depth, first come first. */
class Line {
  #waiting: Request[] = [];
  #next = 0;

  add(sr: Request): void {
    this.#waiting.push(sr);
  }

  take(): Request | undefined {
    while (this.#next < this.#waiting.length) {
      const sr = this.#waiting[this.#next++]!;
      if (sr.child!.queued) {
        return sr;
      }
    }
    this.#waiting = [];
    this.#next = 0;
    return undefined;
  }
}

/**
 * Begins the subrequests of one main request. The first few begin as soon as their callers have returned; the others wait
 * for the next ticks, a few in each, so that pages which include each other a thousandfold do not keep the event loop from
 * its other clients. The deepest begin first: what they answer is what the client gets next, so that it can leave, and few are
 * under way at any time. nginx: ngx_http_post_request, ngx_http_run_posted_requests.
 */
export class SubrequestQueue implements TickTask {
  readonly #main: Request;
  readonly #lines: Line[] = [];
  /** Subrequests whose output has no place in a page, which may wait for them. */
  readonly #unplaced = new Line();
  #length = 0;
  #begun = 0;
  #scheduled = false;

  constructor(main: Request) {
    this.#main = main;
  }

  /** Begins a subrequest, now or later. */
  add(sr: Request): void {
    if (this.#length === 0 && this.#begun < PER_TICK) {
      this.#begun++;
      process.nextTick(begin, sr);
      return;
    }
    sr.child!.queued = true;
    this.#length++;
    this.#lineOf(sr).add(sr);
    this.goOn();
  }

  #lineOf(sr: Request): Line {
    if (!sr.child!.placed) {
      return this.#unplaced;
    }
    const depth = MAX_SUBREQUESTS - sr.subrequests;
    while (this.#lines.length <= depth) {
      this.#lines.push(new Line());
    }
    return this.#lines[depth]!;
  }

  /** A subrequest has ended: others may begin. */
  goOn(): void {
    if (this.#length === 0 || this.#scheduled) {
      return;
    }
    this.#scheduled = true;
    endOfTick.ask(AtTickEnd.SUBREQUESTS, this);
  }

  /** Begins the next few. */
  tickEnded(): void {
    this.#scheduled = false;
    this.#begun = 0;
    try {
      while (this.#begun < PER_TICK) {
        const sr = this.#next();
        if (sr === undefined) {
          return;
        }
        sr.child!.queued = false;
        this.#length--;
        this.#begun++;
        begin(sr);
      }
    } finally {
      if (this.#begun > 0) {
        this.goOn();
      }
    }
  }

  #next(): Request | undefined {
    if (this.#length === 0) {
      return undefined;
    }
    let sr = this.#unplaced.take();
    if (sr !== undefined) {
      return sr;
    }
    const { children, postponed } = this.#main;
    if (children!.dependents.size - this.#length >= UNDER_WAY) {
      return postponed?.awaited();
    }
    for (let depth = this.#lines.length - 1; sr === undefined && depth >= 0; depth--) {
      sr = this.#lines[depth]!.take();
    }
    return sr;
  }
}

function begin(sr: Request): void {
  if (sr.finished) {
    return;
  }
  if (sr.debugging) {
    logUri(sr, 'http posted request:');
  }
  if (sr.phase === PhaseStep.CONTENT) {
    runPhases(sr);
  } else {
    startPhases(sr);
  }
}
