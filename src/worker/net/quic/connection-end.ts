import type { ServerConnection } from './connection.js';
import type { QuicEnd } from './contract.js';
import { Code } from './errors.js';
import { Farewell } from './farewell.js';
import type { QuicClient } from './host.js';

/** For how many probe timeouts a connection that has ended is remembered (RFC 9000, 10.2). */
const REMEMBERED = 3;

/** How a connection ends: those above hear of it once, its client as often as it asks, and what it holds is freed. */
export class ConnectionEnd {
  readonly #connection: ServerConnection;
  readonly #client: QuicClient;
  /** Nothing is read or sent any more but the answer that it is over. */
  begun = false;
  /** The endpoint does not know it any more. */
  complete = false;
  #counted = true;
  /** What answers everything once the connection is closed; undefined where the peer has closed it. */
  #farewell: Farewell | undefined = undefined;

  constructor(connection: ServerConnection, client: QuicClient) {
    this.#connection = connection;
    this.#client = client;
  }

  /** Says that it is over, and why. `application`: the code is one of the protocol above. `frame`: what frame was wrong. */
  close(application: boolean, code: number, reason: string, frame: number, by: 'local' | 'killed'): void {
    if (this.begun) {
      return;
    }
    const c = this.#connection;
    const { confirmed } = c;
    try {
      this.#tell({ by, application, code, reason });
      if (!confirmed) {
        this.#client.failed(reason, c);
      }
      this.#farewell = new Farewell(c, application, code, reason, frame);
    } finally {
      // Whatever goes wrong above, a connection that has ended keeps nothing.
      this.#release();
      c.setDeadline(c.now + REMEMBERED * c.probeTimeout);
      c.touch();
    }
  }

  /** The peer knows that it is over. */
  drain(why: QuicEnd): void {
    if (this.begun) {
      return;
    }
    const c = this.#connection;
    const { confirmed } = c;
    try {
      this.#tell(why);
      if (!confirmed) {
        this.#client.failed('client closed connection', c);
      }
    } finally {
      this.#release();
      c.setDeadline(c.now + REMEMBERED * c.probeTimeout);
    }
  }

  /** Nothing came for too long. */
  timedOut(): void {
    try {
      this.#tell({ by: 'idle', application: false, code: Code.NO_ERROR, reason: 'timed out' });
    } finally {
      this.forget();
    }
  }

  /** Frees all at once, without a word: the process ends, or the client is not to hear anything. */
  abandon(): void {
    this.#tell({ by: 'killed', application: false, code: Code.NO_ERROR, reason: '' });
    this.forget();
  }

  /** Answers what still comes. */
  answer(): void {
    this.#farewell?.answer(this.#connection);
  }

  /** Tells the streams and the protocol above. */
  #tell(why: QuicEnd): void {
    if (this.begun) {
      return;
    }
    this.begun = true;
    const { streams, handler } = this.#connection;
    try {
      streams.end();
      handler?.ended(why);
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    if (this.#counted) {
      this.#counted = false;
      this.#client.left();
    }
  }

  /** Frees what only a living connection needs. */
  #release(): void {
    const { spaces, recovery, keys, handshake, controls } = this.#connection;
    for (const space of spaces) {
      recovery.discard(space);
      space.discard();
    }
    keys.free();
    handshake.free();
    controls.clear();
  }

  /** Nobody has to know it any more. */
  forget(): void {
    if (this.complete) {
      return;
    }
    this.complete = true;
    this.#leave();
    this.#release();
    const c = this.#connection;
    c.setDeadline(Number.POSITIVE_INFINITY);
    c.host.forget(c);
  }
}
