import type { Stream } from './stream.js';

/** The streams that have something to send, by the urgency that RFC 9218 gives them. The streams themselves lead to their neighbours. */
export class SendQueue {
  #first: Stream | undefined = undefined;
  #last: Stream | undefined = undefined;
  size = 0;

  add(stream: Stream): void {
    if (!stream.queued) {
      stream.queued = true;
      this.size++;
      this.#put(stream);
    }
  }

  /** Puts a stream behind all that are as urgent. */
  #put(stream: Stream): void {
    let before = this.#last;
    while (before !== undefined && before.urgency > stream.urgency) {
      before = before.queuedBefore;
    }
    const after = before === undefined ? this.#first : before.queuedAfter;
    stream.queuedBefore = before;
    stream.queuedAfter = after;
    if (before === undefined) {
      this.#first = stream;
    } else {
      before.queuedAfter = stream;
    }
    if (after === undefined) {
      this.#last = stream;
    } else {
      after.queuedBefore = stream;
    }
  }

  #take(stream: Stream): void {
    const { queuedBefore: before, queuedAfter: after } = stream;
    if (before === undefined) {
      this.#first = after;
    } else {
      before.queuedAfter = after;
    }
    if (after === undefined) {
      this.#last = before;
    } else {
      after.queuedBefore = before;
    }
    stream.queuedBefore = stream.queuedAfter = undefined;
  }

  /** The stream whose turn it is. */
  first(): Stream | undefined {
    return this.#first;
  }

  /** The first stream has had its turn: others of its urgency follow. */
  rotate(stream: Stream): void {
    if (stream.queuedAfter?.urgency === stream.urgency) {
      this.#take(stream);
      this.#put(stream);
    }
  }

  remove(stream: Stream): void {
    if (stream.queued) {
      stream.queued = false;
      this.size--;
      this.#take(stream);
    }
  }

  clear(): void {
    while (this.#first !== undefined) {
      this.remove(this.#first);
    }
  }
}
