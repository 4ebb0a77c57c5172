import { setTimer } from '../../shared/time/timer.js';
import { now } from '../task/at-work.js';

/** A timer of Node's, and whose turn it is when that runs out. */
interface Turn {
  timer: NodeJS.Timeout;
  entry: Entry;
}

/** What a script has asked to be called later. */
interface Entry {
  readonly run: () => void;
  /** When that is, in monotonic milliseconds, by the moment of the event in which it was asked; and which of several of one time it is. */
  readonly due: number;
  readonly number: number;
  /** What the script was given for it. */
  readonly handle: NodeJS.Timeout;
  turn: Turn;
  /** The place in the heap. */
  at: number;
}

/**
 * The timers of one run of a script, which are called in the order of their times. Node's own would not be: it asks the clock for each, so
 * that of two which were set in one event the one with the longer time runs out first if the machine was busy in between. So each timer of
 * Node's calls what is first. nginx: ngx_add_timer, which counts from one moment for all of an event.
 */
export class ScriptTimers {
  /** A heap: what is to be called first is the first. */
  readonly #heap: Entry[] = [];
  readonly #entries = new Map<NodeJS.Timeout, Entry>();
  #count = 0;

  start(run: () => void, ms: number): NodeJS.Timeout {
    const turn = {} as Turn;
    const handle = setTimer(() => this.#ranOut(turn), ms);
    const entry: Entry = { run, due: now() + ms, number: this.#count++, handle, turn, at: this.#heap.length };
    turn.timer = handle;
    turn.entry = entry;
    this.#entries.set(handle, entry);
    this.#heap.push(entry);
    this.#up(entry);
    return handle;
  }

  /** Takes one back; false if there is none. */
  stop(handle: NodeJS.Timeout): boolean {
    const entry = this.#entries.get(handle);
    if (entry === undefined) {
      return false;
    }
    clearTimeout(entry.turn.timer);
    this.#remove(entry);
    return true;
  }

  close(): void {
    for (const { turn } of this.#heap) {
      clearTimeout(turn.timer);
    }
    this.#heap.length = 0;
    this.#entries.clear();
  }

  #ranOut(turn: Turn): void {
    const { entry } = turn;
    const first = this.#heap[0]!;
    if (first !== entry) {
      entry.turn = first.turn;
      entry.turn.entry = entry;
    }
    this.#remove(first);
    first.run();
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.handle);
    const last = this.#heap.pop()!;
    if (last !== entry) {
      last.at = entry.at;
      this.#heap[last.at] = last;
      this.#up(last);
      this.#down(last);
    }
  }

  #up(entry: Entry): void {
    while (entry.at > 0) {
      const above = this.#heap[(entry.at - 1) >> 1]!;
      if (isBefore(above, entry)) {
        return;
      }
      this.#swap(above, entry);
    }
  }

  #down(entry: Entry): void {
    const heap = this.#heap;
    for (;;) {
      const left = heap[2 * entry.at + 1];
      const right = heap[2 * entry.at + 2];
      const below = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
      if (below === undefined || isBefore(entry, below)) {
        return;
      }
      this.#swap(entry, below);
    }
  }

  #swap(one: Entry, other: Entry): void {
    [one.at, other.at] = [other.at, one.at];
    this.#heap[one.at] = one;
    this.#heap[other.at] = other;
  }
}

const isBefore = (one: Entry, other: Entry): boolean => one.due < other.due || (one.due === other.due && one.number < other.number);
