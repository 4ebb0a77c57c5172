/** How many are remembered. */
const MEMORY = 128;
/** Both sides closed it, or the client broke it off: it may send nothing more. */
const ENDED = -2;
/** We reset it while the client was sending a body of unknown length. */
const RESET = -1;

/** Streams that were closed lately: frames for them may still be on their way (RFC 9113, 5.1). */
export class ClosedStreams {
  /** How much of the body was still to come, or one of the numbers above. */
  readonly #streams = new Map<number, number>();

  /** The client sends nothing more on a stream. */
  addEnded(streamId: number): void {
    this.#add(streamId, ENDED);
  }

  /** We reset a stream, `rest` bytes before the end of its body; -1: nobody knows how many. */
  addReset(streamId: number, rest: number): void {
    this.#add(streamId, rest < 0 ? RESET : rest);
  }

  #add(streamId: number, rest: number): void {
    this.#streams.set(streamId, rest);
    if (this.#streams.size <= MEMORY) {
      return;
    }
    for (const oldest of this.#streams.keys()) {
      this.#streams.delete(oldest);
      return;
    }
  }

  /** The client had closed its side. */
  ended(streamId: number): boolean {
    return this.#streams.get(streamId) === ENDED;
  }

  /** We reset it: what still comes is no fault. */
  wasReset(streamId: number): boolean {
    return this.#streams.has(streamId) && !this.ended(streamId);
  }

  /** More of a body came for a stream that we had reset; false if it is longer, or with `end` shorter, than it was said to be. */
  took(streamId: number, bytes: number, end: boolean): boolean {
    const rest = this.#streams.get(streamId);
    if (rest === undefined || rest < 0) {
      return true;
    }
    const left = rest - bytes;
    const sound = left === 0 || (left > 0 && !end);
    this.#streams.set(streamId, end || !sound ? ENDED : left);
    return sound;
  }
}
