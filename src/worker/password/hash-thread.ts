import { parentPort } from 'node:worker_threads';
import { crypt } from './crypt.js';

// The body of a hashing thread: each message is one password and one stored hash, answered with the result before the next one comes.
parentPort!.on('message', async ({ password, stored }: HashJob) => {
  parentPort!.postMessage(await crypt(password, stored));
});

/** What a thread is asked. */
export interface HashJob {
  readonly password: string;
  readonly stored: string;
}
