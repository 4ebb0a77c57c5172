import type { Dependency } from './dependency-tree.js';

/** A stream that has something to send. */
export interface WaitingStream {
  readonly streamId: number;
  /** 0 is the most urgent, 7 the least. */
  readonly urgency: number;
  /** The stream takes turns with others that are as urgent; otherwise it is sent whole, those opened first before the others. */
  readonly incremental: boolean;
  readonly place: Dependency;
}

/** Says which stream sends next. */
export class Scheduler<T extends WaitingStream> {
  #queue: T[] = [];
  #first = 0;
  /** Some client said something of priorities: otherwise streams take turns. */
  ordered = false;

  get empty(): boolean {
    return this.#first === this.#queue.length;
  }

  /** A stream that is not in it has something to send. */
  add(stream: T): void {
    this.#queue.push(stream);
  }

  /** Takes the next one out; it is added again if it has more. */
  next(): T | undefined {
    const queue = this.#queue;
    if (this.#first === queue.length) {
      return undefined;
    }
    if (this.ordered) {
      this.#bringForward();
    }
    const stream = queue[this.#first++]!;
    if (this.#first === queue.length) {
      queue.length = 0;
      this.#first = 0;
    } else if (this.#first > 256) {
      queue.splice(0, this.#first);
      this.#first = 0;
    }
    return stream;
  }

  /** Takes a stream out that is over. */
  remove(stream: T): void {
    const i = this.#queue.indexOf(stream, this.#first);
    if (i !== -1) {
      this.#queue.splice(i, 1);
    }
  }

  /** Moves the stream that comes before all others to the front. */
  #bringForward(): void {
    const queue = this.#queue;
    let best = this.#first;
    for (let i = best + 1; i < queue.length; i++) {
      if (before(queue[i]!, queue[best]!)) {
        best = i;
      }
    }
    if (best === this.#first) {
      return;
    }
    const stream = queue[best]!;
    queue.copyWithin(this.#first + 1, this.#first, best);
    queue[this.#first] = stream;
  }
}

function before(a: WaitingStream, b: WaitingStream): boolean {
  if (a.urgency !== b.urgency) {
    return a.urgency < b.urgency;
  }
  if (a.place.rank !== b.place.rank) {
    return a.place.rank < b.place.rank;
  }
  if (a.place.weight !== b.place.weight) {
    return a.place.weight > b.place.weight;
  }
  if (a.incremental !== b.incremental) {
    return !a.incremental;
  }
  return !a.incremental && a.streamId < b.streamId;
}
