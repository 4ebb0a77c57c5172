/** Lets something be done so often in a second, however often it is asked for. */
export class EachSecond {
  readonly #most: number;
  #count = 0;
  #second = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether it may be done once more; `now` in milliseconds. */
  may(now: number): boolean {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#count = 0;
    }
    return ++this.#count <= this.#most;
  }
}
