/** A connection that may be closed for a new one while it stands in the queue. */
export interface Idle {
  /** The connections that have been idle for longer and for less long; null at the ends, and while it is in no queue. */
  idleBefore: Idle | null;
  idleAfter: Idle | null;
  /** Closes the connection, which takes it out of the queue. */
  closeIdle(): void;
}

/** The connections on which nothing is under way, the one that has been idle longest first. nginx: reusable_connections_queue. */
export class IdleQueue {
  #first: Idle | null = null;
  #last: Idle | null = null;

  /** Puts a connection that is in no queue at the end. */
  add(connection: Idle): void {
    const last = this.#last;
    connection.idleBefore = last;
    if (last === null) {
      this.#first = connection;
    } else {
      last.idleAfter = connection;
    }
    this.#last = connection;
  }

  /** Takes a connection out; one that is not in the queue stays out. */
  remove(connection: Idle): void {
    const { idleBefore: before, idleAfter: after } = connection;
    if (before !== null) {
      before.idleAfter = after;
    } else if (this.#first === connection) {
      this.#first = after;
    } else {
      return;
    }
    if (after !== null) {
      after.idleBefore = before;
    } else {
      this.#last = before;
    }
    connection.idleBefore = null;
    connection.idleAfter = null;
  }

  /** Closes the connection that has been idle longest. Returns false when there is none. nginx: ngx_drain_connections. */
  closeOldest(): boolean {
    const oldest = this.#first;
    if (oldest === null) {
      return false;
    }
    oldest.closeIdle();
    return true;
  }
}
