/** A client connection in whatever state, as far as all of them together are concerned. */
export interface HeldConnection {
  /** The connection's place in the list; -1 while it is not held. The list alone sets it. */
  heldAt: number;
  /** The client sends datagrams. */
  readonly udp?: boolean;
  /** The worker is about to leave: an idle connection is closed when nothing can be on its way any more. `now`: monotonic milliseconds. */
  drain(now: number): void;
  /** Ends the connection whatever it is doing: the worker must go. */
  kill(): void;
}

/** All connections of a worker. Each knows its place: a set would take as much memory again for each. */
export class HeldList {
  readonly #held: HeldConnection[] = [];

  get size(): number {
    return this.#held.length;
  }

  /** Takes in a connection that is not in the list. */
  add(connection: HeldConnection): void {
    connection.heldAt = this.#held.length;
    this.#held.push(connection);
  }

  /** Takes a connection out. Returns false for one that is not in the list. */
  delete(connection: HeldConnection): boolean {
    const { heldAt } = connection;
    if (heldAt === -1) {
      return false;
    }
    const last = this.#held.pop()!;
    if (last !== connection) {
      this.#held[heldAt] = last;
      last.heldAt = heldAt;
    }
    connection.heldAt = -1;
    return true;
  }

  /** The connections in the list now. */
  all(): HeldConnection[] {
    return [...this.#held];
  }
}
