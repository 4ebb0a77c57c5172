import { setTimeout as sleep } from 'node:timers/promises';

/** Limits of a wait. */
export interface WaitOptions {
  /** Milliseconds until the wait fails; 60000 unless told. */
  readonly timeout?: number;
  /** What was waited for: text, or a function that describes the state at the time of the failure. */
  readonly what?: string | (() => string);
}

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>;

/** Milliseconds between two questions, at first and at last. */
const [SHORTEST, LONGEST] = [5, 40];

/**
 * Waits until `condition` gives something truthy, and returns that. It asks every few milliseconds, so that a test waits
 * for the event it needs and never for a time; less often the longer that takes, since to ask may mean to load the server with requests.
 * Throws an Error that names `what` when the time is up.
 */
export async function waitFor<T>(condition: () => T | Promise<T>, options: WaitOptions = {}): Promise<Truthy<T>> {
  const begun = Date.now();
  for (;;) {
    const value = await condition();
    if (value) {
      return value as Truthy<T>;
    }
    const waited = Date.now() - begun;
    if (waited > (options.timeout ?? 60_000)) {
      const what = typeof options.what === 'function' ? options.what() : (options.what ?? condition.toString());
      throw new Error(`waited in vain for: ${what}`);
    }
    await sleep(Math.min(Math.max(SHORTEST, waited / 20), LONGEST));
  }
}

/**
 * Reads something until it is as expected, and returns what was read last, so that an assertion can say what is wrong. For numbers that
 * several workers publish: each does so soon, but a reader in another worker does not know when one has had its turn on a busy machine.
 */
export async function settled<T>(read: () => Promise<T>, expected: (value: T) => boolean): Promise<T> {
  let value = await read();
  for (const until = Date.now() + 20_000; !expected(value) && Date.now() < until; value = await read()) {
    await sleep(20);
  }
  return value;
}
