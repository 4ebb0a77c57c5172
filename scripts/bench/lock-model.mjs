// A model of one shared zone under full load of many workers, each on a core of its own, which few machines have. It knows what
// transaction-queue.ts does: the jobs of a tick share one transaction; a zone that is locked is tried again in the next tick, then after a
// millisecond. Prints, for each number of workers and of files that the zone's keys are divided among, CPU time a request beside one
// worker's, requests a second of all, the share of time in which a file is locked, and how long a decision takes (median and p99). What
// the processors' caches and the kernel's locks of files add, it does not know: `micro/zone.mjs` measures them on the cores that are there.
//
//   node scripts/bench/lock-model.mjs [--workers 1,2,4,8,16,32,64] [--files 1,4,16] [--work 10] [--fixed 7.5] [--each 2.3] [--refused 10]
//                                     [--connections 16] [--away 200] [--tries 1] [--seconds 1]
//
// work: microseconds of a request beside the zone; fixed, each: of a transaction, and of each job in it; refused: of one that finds the
// zone locked; connections: of each worker; away: until a client's next request; tries: EAGER_TRIES there.
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2,4,8,16,32,64' },
    files: { type: 'string', default: '1,4,16' },
    work: { type: 'string', default: '10' },
    fixed: { type: 'string', default: '7.5' },
    each: { type: 'string', default: '2.3' },
    refused: { type: 'string', default: '10' },
    connections: { type: 'string', default: '16' },
    away: { type: 'string', default: '200' },
    tries: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '1' },
  },
});
const costs = {
  work: Number(values.work),
  fixed: Number(values.fixed),
  each: Number(values.each),
  refused: Number(values.refused),
  connections: Number(values.connections),
  away: Number(values.away),
};
const end = Number(values.seconds) * 1e6;
/** Tries in next ticks before the pause. */
const eagerTries = Number(values.tries);
const PAUSE = 1000;

for (const files of values.files.split(',').map(Number)) {
  let alone = 0;
  for (const workers of values.workers.split(',').map(Number)) {
    const { cpu, perSecond, locked, waits } = run(workers, files);
    alone ||= cpu;
    waits.sort((a, b) => a - b);
    const wait = (/** @type {number} */ share) => (waits[Math.floor(waits.length * share)] ?? Number.NaN).toFixed(0);
    console.log(
      `${workers} worker${workers > 1 ? 's' : ''}, ${files} file${files > 1 ? 's' : ''}: ${cpu.toFixed(1)} us a request, ` +
        `${(cpu / alone).toFixed(2)} of one worker's; ${(perSecond / 1000).toFixed(0)} thousand a second; locked ${(locked * 100).toFixed(0)} %; ` +
        `decided after ${wait(0.5)}/${wait(0.99)} us`,
    );
  }
}

/** @typedef {{ file: number, since: number }} Job */

/**
 * @param {number} workers
 * @param {number} files
 */
function run(workers, files) {
  let seed = 1;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  const lockedUntil = new Float64Array(files);
  let [held, used, done] = [0, 0, 0];
  /** @type {number[]} */
  const waits = [];
  const all = Array.from({ length: workers }, () => ({
    at: 0,
    /** When each connection's next request comes. */
    arrivals: Array.from({ length: costs.connections }, () => random() * costs.away),
    jobs: /** @type {Job[]} */ ([]),
    tries: 0,
    /** The handlers have run: the transactions are next. */
    decides: false,
    /** The zone is not tried before. */
    pausedUntil: 0,
  }));
  for (;;) {
    let worker = all[0];
    for (const each of all) {
      if (each.at < worker.at) {
        worker = each;
      }
    }
    if (worker.at > end) {
      return { cpu: used / done, perSecond: done / (end / 1e6), locked: held / end / files, waits };
    }
    if (worker.decides) {
      decide(worker);
    } else {
      handle(worker);
    }
  }

  /** @param {(typeof all)[0]} worker */
  function handle(worker) {
    const { at } = worker;
    const come = worker.arrivals.filter((time) => time <= at);
    const next = Math.min(...worker.arrivals.filter((time) => time > at), worker.jobs.length > 0 ? worker.pausedUntil : end + 1);
    if (come.length === 0 && (worker.jobs.length === 0 || worker.pausedUntil > at)) {
      worker.at = Math.max(next, at + 0.001);
      return;
    }
    worker.arrivals = worker.arrivals.filter((time) => time > at);
    worker.at += come.length * costs.work;
    used += come.length * costs.work;
    for (const _ of come) {
      worker.jobs.push({ file: Math.floor(random() * files), since: worker.at });
    }
    worker.decides = worker.pausedUntil <= worker.at;
  }

  /** @param {(typeof all)[0]} worker */
  function decide(worker) {
    worker.decides = false;
    /** @type {Job[]} */
    const left = [];
    for (const file of new Set(worker.jobs.map((job) => job.file))) {
      const jobs = worker.jobs.filter((job) => job.file === file);
      if (lockedUntil[file] > worker.at) {
        worker.at += costs.refused;
        used += costs.refused;
        left.push(...jobs);
        continue;
      }
      const takes = costs.fixed + costs.each * jobs.length;
      worker.at += takes;
      lockedUntil[file] = worker.at;
      held += takes;
      used += takes;
      done += jobs.length;
      for (const { since } of jobs) {
        waits.push(worker.at - since);
        worker.arrivals.push(worker.at + costs.away * (0.5 + random()));
      }
    }
    worker.jobs = left;
    worker.tries = left.length > 0 ? worker.tries + 1 : 0;
    worker.pausedUntil = left.length > 0 && worker.tries > eagerTries ? worker.at + PAUSE : 0;
  }
}
