/** Computes crypt() off the event loop, and calls back with undefined if that broke off. Texts are latin1. */
export type Hash = (password: string, stored: string, callback: (hash: string | undefined) => void) => void;

/** How many hashes are computed at a time: the threads that do it have a processor to leave to others, and files to read. */
const MOST = 2;

interface Job {
  readonly password: string;
  readonly stored: string;
  readonly callback: (hash: string | undefined) => void;
}

/** Passwords wait here for their turn. What nobody waits for any more is not hashed. */
export class HashQueue {
  readonly #hash: Hash;
  /** In the order in which they came. */
  readonly #waiting = new Set<Job>();
  #running = 0;

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  /** Calls back as {@link Hash} does. The function that it returns takes the password off the queue, and returns false if it has begun. */
  add(password: string, stored: string, callback: (hash: string | undefined) => void): () => boolean {
    const job = { password, stored, callback };
    this.#waiting.add(job);
    this.#next();
    return () => this.#waiting.delete(job);
  }

  #next(): void {
    const [job] = this.#running < MOST ? this.#waiting : [];
    if (job === undefined) {
      return;
    }
    this.#waiting.delete(job);
    this.#running++;
    this.#hash(job.password, job.stored, (hash) => {
      this.#running--;
      job.callback(hash);
      this.#next();
    });
  }
}
