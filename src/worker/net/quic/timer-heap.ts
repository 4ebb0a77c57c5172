import { setTimer } from '../../../shared/time/timer.js';

/** What has something to do at a time. The heap alone sets the two numbers. */
export interface Timed {
  /** When that is, in monotonic milliseconds; infinite for never. */
  readonly deadline: number;
  /** The place in the heap, -1 outside; and the time by which the heap has sorted it. */
  heapAt: number;
  heapTime: number;
}

/** Nothing is called more exactly than that, in milliseconds. */
const LEAST = 1;

/** All that waits for a time, with one timer: what is first in the heap is due first. What is put off stays where it is until its turn. */
export class TimerHeap<T extends Timed> {
  readonly #heap: T[] = [];
  readonly #expired: (item: T, now: number) => void;
  readonly #after: () => void;
  #timer: NodeJS.Timeout | undefined = undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  /** `expired`: the time of one has come, which must have another deadline then; `after`: all that were due were called. */
  constructor(expired: (item: T, now: number) => void, after: () => void) {
    this.#expired = expired;
    this.#after = after;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** The deadline has changed. */
  schedule(item: T, now: number): void {
    if (item.heapAt < 0) {
      if (item.deadline === Number.POSITIVE_INFINITY) {
        return;
      }
      item.heapTime = item.deadline;
      this.#heap.push(item);
      this.#up(this.#heap.length - 1, item);
    } else if (item.deadline < item.heapTime) {
      item.heapTime = item.deadline;
      this.#up(item.heapAt, item);
    } else {
      return;
    }
    this.#arm(now);
  }

  /** Takes one out. */
  remove(item: T): void {
    const at = item.heapAt;
    if (at < 0) {
      return;
    }
    item.heapAt = -1;
    const last = this.#heap.pop()!;
    if (last !== item) {
      this.#up(at, last);
      this.#down(last.heapAt, last);
    }
  }

  #arm(now: number): void {
    const first = this.#heap[0];
    if (first === undefined || first.heapTime >= this.#timerAt) {
      return;
    }
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
    }
    this.#timerAt = first.heapTime;
    this.#timer = setTimer(this.#run, Math.max(LEAST, Math.ceil(first.heapTime - now)));
    this.#timer.unref();
  }

  readonly #run = (): void => {
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    try {
      for (let first = this.#heap[0]; first !== undefined && first.heapTime <= now; first = this.#heap[0]) {
        if (first.deadline <= now) {
          this.remove(first);
          this.#expired(first, now);
        } else if (first.deadline === Number.POSITIVE_INFINITY) {
          this.remove(first);
        } else {
          first.heapTime = first.deadline;
          this.#down(0, first);
        }
      }
    } finally {
      this.#arm(now);
      this.#after();
    }
  };

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #up(at: number, item: T): void {
    const heap = this.#heap;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent]!;
      if (above.heapTime <= item.heapTime) {
        break;
      }
      heap[at] = above;
      above.heapAt = at;
      at = parent;
    }
    heap[at] = item;
    item.heapAt = at;
  }

  #down(at: number, item: T): void {
    const heap = this.#heap;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) {
        break;
      }
      if (child + 1 < heap.length && heap[child + 1]!.heapTime < heap[child]!.heapTime) {
        child++;
      }
      const below = heap[child]!;
      if (below.heapTime >= item.heapTime) {
        break;
      }
      heap[at] = below;
      below.heapAt = at;
      at = child;
    }
    heap[at] = item;
    item.heapAt = at;
  }
}
