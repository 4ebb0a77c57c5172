import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Server } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const PRELOAD = fileURLToPath(new URL('../../scripts/faults/faulty-calls.cjs', import.meta.url));
const { kinds } = createRequire(import.meta.url)(PRELOAD) as { kinds: readonly string[] };

/** Which call of which kind fails, counted from 1, and how. */
export interface FailingCall {
  readonly kind: string;
  readonly nth: number;
  readonly code: string;
}

/** Makes calls of a server's only worker fail: that server is started with {@link failingCallsOptions}. */
export class FailingCalls {
  readonly kinds = kinds;
  readonly #server: Server;
  readonly #sockets: string;

  constructor(server: Server, sockets: string) {
    this.#server = server;
    this.#sockets = sockets;
  }

  /** From now on a call fails. */
  async arm(call: FailingCall): Promise<void> {
    await this.#order(call);
  }

  /** No call fails any more. Gives how many did; undefined when the worker is gone. */
  async disarm(): Promise<number | undefined> {
    const none = { kind: '', nth: 0, code: '' };
    // The call that fails may be one of the order's own.
    return ((await this.#order(none)) ?? (await this.#order(none)))?.failed;
  }

  /** Waits until there is a worker again. */
  async untilServed(): Promise<void> {
    await waitFor(() => this.#order({ kind: '', nth: 0, code: '' }), {
      what: () => `a worker that takes orders\n${this.#server.log().slice(-500)}`,
    });
  }

  #order(order: FailingCall): Promise<{ readonly failed: number } | undefined> {
    // Helpers of caches take no orders; an old worker may still be there.
    const pid = this.#server.workers().findLast((each) => existsSync(`${this.#sockets}/${each}.sock`));
    return new Promise((done) => {
      let text = '';
      const socket = connect(`${this.#sockets}/${pid}.sock`);
      socket.on('data', (bytes) => (text += bytes)).on('error', () => done(undefined));
      socket.on('close', () => done(text === '' ? undefined : JSON.parse(text)));
      socket.write(JSON.stringify(order));
    });
  }
}

/** How a server is started so that calls of its workers can fail. `sockets`: a folder of a short name. */
export const failingCallsOptions = (sockets: string) => ({ preload: PRELOAD, env: { FAULTS: sockets } });
