import { AtTickEnd, endOfTick, type TickTask } from '../../shared/time/end-of-tick.js';

/** Bytes of files and of backends' responses that a worker takes up in one tick, for all its clients together. */
const SHARE = 1024 * 1024;

/** Somebody who reads on when there is a new share. */
export interface SharingReader {
  /** Reads a piece, or nothing. */
  readShare(): void;
}

/**
 * Bounds the bytes that all downloads together, of files and from backends, read in one tick. Without it a thousand downloads that begin
 * at once could read gigabytes while every other client waits. Once the share of a tick is used up, readers wait in a queue.
 */
export class FairShare implements TickTask {
  #left = SHARE;
  #waiting: SharingReader[] = [];
  #next = false;

  /** The share is gone: `wait` for the next one. */
  get over(): boolean {
    return this.#left <= 0;
  }

  /** Counts bytes that were read. */
  spend(bytes: number): void {
    this.#left -= bytes;
    // While there is plenty, a share may last for several ticks: to begin anew in each costs more than it brings.
    if (this.#left < SHARE / 2) {
      this.#endSoon();
    }
  }

  /** Once `over`: `reader` reads in a tick to come. */
  wait(reader: SharingReader): void {
    this.#waiting.push(reader);
  }

  #endSoon(): void {
    if (this.#next) {
      return;
    }
    this.#next = true;
    endOfTick.ask(AtTickEnd.READS, this);
  }

  tickEnded(): void {
    this.#next = false;
    this.#left = SHARE;
    const readers = this.#waiting;
    this.#waiting = [];
    let at = 0;
    try {
      while (at < readers.length && this.#left > 0) {
        readers[at++]!.readShare();
      }
    } finally {
      // Also one that throws does not keep the others from reading.
      if (at < readers.length) {
        this.#waiting = readers.slice(at).concat(this.#waiting);
        this.#endSoon();
      }
    }
  }
}
