import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** V8's own function that collects garbage at once. */
export type Collect = (options?: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/** The function, which only new contexts have, and only while a flag says so. */
export function garbageCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return gc;
}
