import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, constants, mkdirSync, openSync, readdirSync, readlinkSync, writeSync } from 'node:fs';
import type { Test } from 'tap';
import type { Server } from './server.js';
import { waitFor } from './wait.js';

/** The `preload` of a server whose workers read files of folders with {@link HeldReads} from a FIFO. */
export const HOLDS_READS = new URL('held-reads.mjs', import.meta.url).href;

/** Reads of the files of a folder, which last until the test gives what they bring. */
export class HeldReads {
  readonly #server: Server;
  readonly #path: string;
  readonly #fd: number;

  /** The folder is made where it is not there. */
  constructor(t: Test, server: Server, folder: string) {
    this.#server = server;
    mkdirSync(`${server.dir}/${folder}`, { recursive: true });
    this.#path = `${server.dir}/${folder}/fifo`;
    execFileSync('mkfifo', [this.#path]);
    chmodSync(this.#path, 0o666);
    this.#fd = openSync(this.#path, constants.O_RDWR | constants.O_NONBLOCK);
    t.teardown(() => closeSync(this.#fd));
  }

  /** Gives the reads so many bytes, as soon as they are taken but for the last 64 KB. */
  async give(count: number, byte = 'x'): Promise<void> {
    let left = count;
    await waitFor(() => (left -= this.fill(left, byte)) === 0, { what: () => `somebody to read ${left} bytes` });
  }

  /** Gives the reads bytes until they wait to be taken, or so many were given; returns how many. */
  fill(most = Number.POSITIVE_INFINITY, byte = 'x'): number {
    let given = 0;
    try {
      while (given < most) {
        given += writeSync(this.#fd, Buffer.alloc(Math.min(4096, most - given), byte));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
        throw error;
      }
    }
    return given;
  }

  /** Gives the reads as much as they take until something is there. */
  async feed<T>(until: Promise<T>): Promise<T> {
    let over = false;
    const result = until.finally(() => {
      over = true;
    });
    await waitFor(() => {
      this.fill();
      return over;
    });
    return result;
  }

  /** How many files of the folder workers have open. */
  get open(): number {
    let count = 0;
    for (const pid of this.#server.workers()) {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        count += linkOf(`/proc/${pid}/fd/${fd}`) === this.#path ? 1 : 0;
      }
    }
    return count;
  }

  /** Waits until workers have so many open. */
  async opened(count: number): Promise<void> {
    await waitFor(() => this.open === count, { what: () => `${count} open files; there are ${this.open}` });
  }
}

/** Where a link leads; empty when it is gone. */
export function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
