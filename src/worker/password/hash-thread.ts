import { parentPort } from 'node:worker_threads';
import { crypt } from './crypt.js';

// The body of a hashing thread: each message is one password and one stored hash, answered with the result. One after the other: what
// hashes bcrypt takes memory for each.
let idle: Promise<void> = Promise.resolve();
parentPort!.on('message', (job: HashJob) => {
  idle = idle.then(() => answer(job));
});

async function answer({ id, password, stored }: HashJob): Promise<void> {
  parentPort!.postMessage({ id, hash: await crypt(password, stored) } satisfies HashResult);
}

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
