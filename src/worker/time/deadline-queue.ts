import { setTimer } from '../../shared/time/timer.js';

/** What stands in the queue. */
export interface Queued {
  /** Where it stands; -1 while it does not. The queue alone sets it. */
  place: number;
  /** The deadline's time has come; it stands in the queue no longer. */
  due(): void;
}

const FIRST_ROOM = 64;
/** Milliseconds that a timer may be early. */
const EARLY = 0.5;

/**
 * Deadlines in the order in which they are looked at, behind one timer of Node's: one for each would take three times the memory of the
 * deadline. A deadline that is moved to a later time stays where it is, and is moved when it is looked at. nginx: ngx_event_timer_rbtree.
 */
export class DeadlineQueue {
  /** A binary heap: each is looked at no later than the two at twice its place, plus one and two. */
  readonly #queued: Queued[] = [];
  /** For the one at each place: when it is looked at, and when it is due. */
  #looks: Float64Array = new Float64Array(FIRST_ROOM);
  #dues: Float64Array = new Float64Array(FIRST_ROOM);
  #timer: NodeJS.Timeout | undefined = undefined;
  #firesAt = Number.POSITIVE_INFINITY;

  /**
   * Makes `queued` due `ms` milliseconds after `now` (monotonic), in place of any time set before. If that is sooner than before, or if
   * `queued` stood not in the queue, its time runs from this call: a deadline is never over when it is set.
   */
  set(queued: Queued, now: number, ms: number): void {
    const { place } = queued;
    const due = now + ms;
    if (place !== -1 && this.#looks[place]! <= due) {
      this.#dues[place] = due;
    } else {
      this.#setSooner(queued, due, performance.now() + ms);
    }
  }

  #setSooner(queued: Queued, due: number, look: number): void {
    if (queued.place === -1) {
      this.#add(queued, look, due);
    } else if (look < this.#looks[queued.place]!) {
      this.#up(queued, queued.place, look, due);
    } else {
      this.#dues[queued.place] = due;
    }
    if (look < this.#firesAt) {
      this.#arm();
    }
  }

  /** Makes a deadline not due until it is set again. It stays in its place: it is likely to be set. */
  clear(queued: Queued): void {
    if (queued.place !== -1) {
      this.#dues[queued.place] = Number.POSITIVE_INFINITY;
    }
  }

  /** Whether a deadline is to be due. */
  pending(queued: Queued): boolean {
    return queued.place !== -1 && this.#dues[queued.place] !== Number.POSITIVE_INFINITY;
  }

  /** Takes a deadline out. */
  remove(queued: Queued): void {
    const { place } = queued;
    if (place === -1) {
      return;
    }
    queued.place = -1;
    const length = this.#queued.length - 1;
    const last = this.#queued.pop()!;
    if (place < length) {
      const look = this.#looks[length]!;
      const due = this.#dues[length]!;
      if (look < this.#looks[place]!) {
        this.#up(last, place, look, due);
      } else {
        this.#down(last, place, look, due);
      }
    }
    if (length === 0) {
      this.#disarm();
    }
  }

  /** Forgets all. */
  forget(): void {
    for (const queued of this.#queued) {
      queued.place = -1;
    }
    this.#queued.length = 0;
    this.#disarm();
  }

  #add(queued: Queued, look: number, due: number): void {
    const place = this.#queued.length;
    if (place === this.#looks.length) {
      this.#looks = enlarged(this.#looks);
      this.#dues = enlarged(this.#dues);
    }
    this.#queued.push(queued);
    this.#up(queued, place, look, due);
  }

  /** Puts a deadline at this place or, as far as these are looked at later, at one of those above. */
  #up(queued: Queued, from: number, look: number, due: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (this.#looks[above]! <= look) {
        break;
      }
      this.#move(above, place);
      place = above;
    }
    this.#put(queued, place, look, due);
  }

  /** Puts a deadline at this place or, as far as these are looked at sooner, at one of those below. */
  #down(queued: Queued, from: number, look: number, due: number): void {
    const { length } = this.#queued;
    let place = from;
    for (let below = 2 * place + 1; below < length; below = 2 * place + 1) {
      if (below + 1 < length && this.#looks[below + 1]! < this.#looks[below]!) {
        below++;
      }
      if (this.#looks[below]! >= look) {
        break;
      }
      this.#move(below, place);
      place = below;
    }
    this.#put(queued, place, look, due);
  }

  #move(from: number, to: number): void {
    this.#put(this.#queued[from]!, to, this.#looks[from]!, this.#dues[from]!);
  }

  #put(queued: Queued, place: number, look: number, due: number): void {
    this.#queued[place] = queued;
    this.#looks[place] = look;
    this.#dues[place] = due;
    queued.place = place;
  }

  /** The timer fires when the first is looked at. */
  #arm(): void {
    this.#disarm();
    if (this.#queued.length > 0) {
      const look = this.#looks[0]!;
      this.#firesAt = look;
      this.#timer = setTimer(fire, Math.max(Math.ceil(look - performance.now()), 1), this);
    }
  }

  #disarm(): void {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#firesAt = Number.POSITIVE_INFINITY;
    }
  }

  /** Looks at those whose time that is. */
  fired(): void {
    this.#timer = undefined;
    // Nobody who sets one meanwhile has to set the timer for it.
    this.#firesAt = Number.NEGATIVE_INFINITY;
    const now = performance.now() + EARLY;
    try {
      // Each once at most, whatever those that are due set.
      for (let left = this.#queued.length; left > 0 && this.#queued.length > 0 && this.#looks[0]! <= now; left--) {
        const first = this.#queued[0]!;
        const due = this.#dues[0]!;
        if (due <= now) {
          this.remove(first);
          first.due();
        } else if (due === Number.POSITIVE_INFINITY) {
          this.remove(first);
        } else {
          this.#down(first, 0, due, due);
        }
      }
    } finally {
      // When one of them threw, too: the others are still to come.
      this.#firesAt = Number.POSITIVE_INFINITY;
      this.#arm();
    }
  }
}

function enlarged(times: Float64Array): Float64Array {
  const larger = new Float64Array(times.length * 2);
  larger.set(times);
  return larger;
}

function fire(queue: DeadlineQueue): void {
  queue.fired();
}

/** A process has one event loop, hence one of these. */
export const deadlines = new DeadlineQueue();
