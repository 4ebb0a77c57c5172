/** Frames that are not of data and not of paths. Their content is made when they leave, so that what is lost is told as it is by then. */
export const Control = {
  DONE: 0,
  TOKEN: 1,
  MAX_DATA: 2,
  MAX_BIDI: 3,
  MAX_UNI: 4,
  /** The argument of these is a connection ID's number. */
  NEW_ID: 5,
  RETIRE_ID: 6,
  /** The argument of these is a stream's number. */
  MAX_STREAM_DATA: 7,
  STOP_SENDING: 8,
  RESET: 9,
} as const;

/** The kinds of which one at a time is enough. */
const SINGLE = 5;

/** Control frames that are to leave, in order. */
export class ControlQueue {
  #list: number[] = [];
  #next = 0;
  /** Which single ones are in it, a bit each. */
  #single = 0;

  get length(): number {
    return (this.#list.length - this.#next) >> 1;
  }

  /** Adds a frame; one whose kind is single is in the queue once. The caller sees to that of the others. */
  add(kind: number, argument: number): void {
    if (kind < SINGLE) {
      if ((this.#single & (1 << kind)) !== 0) {
        return;
      }
      this.#single |= 1 << kind;
    }
    this.#list.push(kind, argument);
  }

  get kind(): number {
    return this.#list[this.#next]!;
  }

  get argument(): number {
    return this.#list[this.#next + 1]!;
  }

  /** Takes the first frame out. */
  shift(): void {
    const kind = this.#list[this.#next]!;
    if (kind < SINGLE) {
      this.#single &= ~(1 << kind);
    }
    this.#next += 2;
    if (this.#next === this.#list.length) {
      this.#list.length = 0;
      this.#next = 0;
    } else if (this.#next > 256 && this.#next * 2 > this.#list.length) {
      this.#list.splice(0, this.#next);
      this.#next = 0;
    }
  }

  clear(): void {
    this.#list.length = 0;
    this.#next = 0;
    this.#single = 0;
  }
}
