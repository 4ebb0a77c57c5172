// How the small benchmarks measure one helper: CPU time of a call, the best of several turns, which is steady on a busy machine too.

const TURNS = 8;

/**
 * Prints the microseconds of CPU time that a call of `work` takes, which gets the number of the call within its turn; `each`: what it
 * does is done so often in a call. `prepare` runs before each turn, untimed: for strings that have to be new each time, as those of a
 * request are, whose hashes nobody has computed yet.
 */
export function measure(name, calls, work, { each = 1, prepare = () => {} } = {}) {
  let best = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < TURNS; turn++) {
    prepare();
    const before = process.cpuUsage();
    for (let i = 0; i < calls; i++) {
      work(i);
    }
    best = Math.min(best, process.cpuUsage(before).user / calls / each);
  }
  console.log(`${best.toFixed(3)} us  ${name}`);
}
