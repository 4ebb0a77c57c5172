import { parentPort } from 'node:worker_threads';
import { crypt } from './crypt.js';

// The body of a hashing thread: each message is one password and one stored hash, answered with the result.
parentPort!.on('message', ({ id, password, stored }: HashJob) => {
  parentPort!.postMessage({ id, hash: crypt(password, stored) } satisfies HashResult);
});

/** What a thread is asked. */
export interface HashJob {
  readonly id: number;
  readonly password: string;
  readonly stored: string;
}

/** What it answers. */
export interface HashResult {
  readonly id: number;
  readonly hash: string;
}
