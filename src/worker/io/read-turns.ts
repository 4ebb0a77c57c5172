/** Bytes of files and of backends' responses that a worker takes up in one turn of the event loop, for all its clients together. */
const TURN = 1024 * 1024;

/** Somebody who reads on when it is their turn. */
export interface TurnReader {
  /** Reads a piece, or nothing. */
  readTurn(): void;
}

/**
 * Keeps those who download much, from files or backends, from filling a turn of the event loop: a thousand of them who begin at once have
 * room for gigabytes, and everybody else would wait for that. Past a turn's share they stand in a queue.
 */
export class ReadTurns {
  #left = TURN;
  #waiting: TurnReader[] = [];
  #next = false;

  /** This turn's share is gone: `wait` for the next one. */
  get over(): boolean {
    return this.#left <= 0;
  }

  /** Counts bytes that were read. */
  spend(bytes: number): void {
    this.#left -= bytes;
    // While there is plenty, a turn may last for several of the event loop: an immediate for each costs more than it brings.
    if (this.#left < TURN / 2) this.#endSoon();
  }

  /** Once `over`: `reader` reads in a turn to come. */
  wait(reader: TurnReader): void {
    this.#waiting.push(reader);
  }

  #endSoon(): void {
    if (this.#next) return;
    this.#next = true;
    setImmediate(begin, this);
  }

  begin(): void {
    this.#next = false;
    this.#left = TURN;
    const readers = this.#waiting;
    this.#waiting = [];
    let at = 0;
    try {
      while (at < readers.length && this.#left > 0) readers[at++]!.readTurn();
    } finally {
      // Also one that throws does not keep the others from their turn.
      if (at < readers.length) {
        this.#waiting = readers.slice(at).concat(this.#waiting);
        this.#endSoon();
      }
    }
  }
}

function begin(turns: ReadTurns): void {
  turns.begin();
}
