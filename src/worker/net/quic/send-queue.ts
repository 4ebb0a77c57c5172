import type { Stream } from './stream.js';

const URGENCIES = 8;

/** The streams that have something to send, by the urgency that RFC 9218 gives them. */
export class SendQueue {
  readonly #levels: Stream[][] = Array.from({ length: URGENCIES }, () => []);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(stream: Stream): void {
    if (!stream.queued) {
      stream.queued = true;
      this.#size++;
      this.#levels[stream.urgency]!.push(stream);
    }
  }

  /** The stream whose turn it is. */
  first(): Stream | undefined {
    if (this.#size === 0) {
      return undefined;
    }
    for (const level of this.#levels) {
      if (level.length > 0) {
        return level[0];
      }
    }
    return undefined;
  }

  /** The first stream has had its turn: others of its urgency follow. */
  rotate(stream: Stream): void {
    const level = this.#levels[stream.urgency]!;
    if (level.length > 1) {
      level.push(level.shift()!);
    }
  }

  remove(stream: Stream): void {
    if (!stream.queued) {
      return;
    }
    stream.queued = false;
    this.#size--;
    const level = this.#levels[stream.urgency]!;
    if (level[0] === stream) {
      level.shift();
    } else {
      level.splice(level.indexOf(stream), 1);
    }
  }

  clear(): void {
    for (const level of this.#levels) {
      for (const stream of level) {
        stream.queued = false;
      }
      level.length = 0;
    }
    this.#size = 0;
  }
}
