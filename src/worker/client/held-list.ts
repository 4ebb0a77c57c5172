/** A client connection in whatever state, as far as all of them together are concerned. */
export interface HeldConnection {
  /** Those that have been held for longer and for less long; null at the ends, and while it is not held. */
  heldBefore: HeldConnection | null;
  heldAfter: HeldConnection | null;
  /** The worker is about to leave: an idle connection is closed when nothing can be on its way any more. `now`: monotonic milliseconds. */
  drain(now: number): void;
  /** Ends the connection whatever it is doing: the worker must go. */
  kill(): void;
}

/** All connections of a worker. They are linked themselves: a set would take as much memory again for each. */
export class HeldList {
  #first: HeldConnection | null = null;
  #last: HeldConnection | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Puts a connection that is not in the list at the end. */
  add(connection: HeldConnection): void {
    const last = this.#last;
    connection.heldBefore = last;
    if (last === null) {
      this.#first = connection;
    } else {
      last.heldAfter = connection;
    }
    this.#last = connection;
    this.#size++;
  }

  /** Takes a connection out. Returns false for one that is not in the list. */
  delete(connection: HeldConnection): boolean {
    const { heldBefore: before, heldAfter: after } = connection;
    if (before !== null) {
      before.heldAfter = after;
    } else if (this.#first === connection) {
      this.#first = after;
    } else {
      return false;
    }
    if (after !== null) {
      after.heldBefore = before;
    } else {
      this.#last = before;
    }
    connection.heldBefore = null;
    connection.heldAfter = null;
    this.#size--;
    return true;
  }

  /** Those in the list now, the one that has been in it longest first. */
  all(): HeldConnection[] {
    const all: HeldConnection[] = [];
    for (let each = this.#first; each !== null; each = each.heldAfter) {
      all.push(each);
    }
    return all;
  }
}
