/** What a list holds. */
export interface Held {
  /** The place in the list; -1 while it is not held. The list alone sets it. */
  heldAt: number;
}

/** A client connection in whatever state, as far as all of them together are concerned. */
export interface HeldConnection extends Held {
  /** The client sends datagrams. */
  readonly udp?: boolean;
  /** The worker is about to leave: an idle connection is closed when nothing can be on its way any more. `now`: monotonic milliseconds. */
  drain(now: number): void;
  /** Ends the connection whatever it is doing: the worker must go. */
  kill(): void;
}

/** All connections of a worker, or all requests of a connection. Each knows its place: a set would take as much memory again for each. */
export class HeldList<T extends Held = HeldConnection> {
  readonly #held: T[] = [];

  get size(): number {
    return this.#held.length;
  }

  /** Takes in one that is not in the list. */
  add(held: T): void {
    held.heldAt = this.#held.length;
    this.#held.push(held);
  }

  /** Takes one out. Returns false for one that is not in the list. */
  delete(held: T): boolean {
    const { heldAt } = held;
    if (heldAt === -1) {
      return false;
    }
    const last = this.#held.pop()!;
    if (last !== held) {
      this.#held[heldAt] = last;
      last.heldAt = heldAt;
    }
    held.heldAt = -1;
    return true;
  }

  /** All that are in the list now, in any order. */
  all(): T[] {
    return [...this.#held];
  }
}
