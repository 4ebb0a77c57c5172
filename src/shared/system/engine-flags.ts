import { setFlagsFromString } from 'node:v8';

/**
 * How V8 is to run what our processes run. V8's code of the program, which the build keeps, was made with the same flags, and is good with
 * these alone. Measured: docs/performance-notes.md.
 */
const FLAGS: readonly string[] = [
  // New space is nearly empty of living objects when it is cleared: one thread does that in half a millisecond, while helpers
  // have to get a processor first, which on a busy machine takes tens of milliseconds in which no request is answered.
  '--no-parallel-scavenge',
  // A request goes through many small functions: what is put into one is four times as much as V8 would, and twice as long.
  '--max-inlined-bytecode-size-cumulative=4000',
  '--max-inlined-bytecode-size=1000',
];

/** Sets V8's flags; before a process loads its program. */
export function setEngineFlags(): void {
  for (const flag of FLAGS) {
    setFlagsFromString(flag);
  }
}
