// What one decision of a shared zone costs without requests around it: workers that ask limit_req and limit_conn in each turn of their
// event loops, alone and several on one zone. Prints microseconds of CPU time a request beside the same turns without zones (the better
// quarter of short runs, so that other work on the machine does not count), how long decisions wait, and how often a worker lost the
// processor.
//
//   node scripts/bench/micro/zone.mjs [--workers 1,4] [--batch 8] [--work 8] [--keys 1000] [--seconds 2] [--rounds 3] [--apart]
//
// batch: requests in one turn; work: microseconds of other work for each of them. apart: each worker has zones of its own, so that what is
// left beside one worker is what the machine makes of several processes.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleSources } from '../bundle.mjs';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,4' },
    batch: { type: 'string', default: '8' },
    work: { type: 'string', default: '8' },
    keys: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    apart: { type: 'boolean', default: false },
    child: { type: 'string' },
    base: { type: 'string' },
  },
});
const [batch, work, keys, seconds, rounds] = ['batch', 'work', 'keys', 'seconds', 'rounds'].map((name) => Number(values[name]));
/** Turns after which V8 has compiled all this. */
const WARM_UP = 3000;
/** Turns of a short run. */
const RUN = 100;
/** Steps of `burn` in a microsecond, or so. */
const STEPS = 500;
let noise = 1;

if (values.child === undefined) {
  await compare();
} else {
  await turns(await import(values.child));
}

/** The whole measurement: all numbers of workers in turn, with zones and without. */
async function compare() {
  const outfile = await bundleSources(
    'zone',
    `export { ZoneSet } from './shared/zone/zone-set.js';
export { SqliteZoneStore } from './shared/zone/store.js';
export { monotonicMs } from './shared/zone/monotonic.js';
export { rateZone, RateDecision } from './worker/modules/limit-req/zone.js';
export { connZone, ENTERED } from './worker/modules/limit-conn/zone.js';`,
  );
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => process.exit(1));
  }
  const best = new Map();
  const counts = values.workers.split(',').map(Number);
  for (let round = 0; round < rounds; round++) {
    for (const workers of counts) {
      for (const zones of [false, true]) {
        const name = `${workers} ${zones ? 'with zones' : 'without'}`;
        const result = await run(outfile, workers, zones);
        if (!(best.get(name)?.cpu < result.cpu)) {
          best.set(name, result);
        }
      }
    }
  }
  for (const workers of counts) {
    const bare = best.get(`${workers} without`);
    const zoned = best.get(`${workers} with zones`);
    console.log(
      `${workers} workers: ${(zoned.cpu - bare.cpu).toFixed(2)} us a request by both limits (${zoned.cpu.toFixed(2)} with its other work), ` +
        `waits ${zoned.p50.toFixed(0)}/${zoned.p99.toFixed(0)}/${zoned.max.toFixed(0)} us (p50/p99/max), ${zoned.perSecond.toFixed(0)} a second, ${zoned.switches.toFixed(3)} context switches each`,
    );
  }
}

/** Some workers at once; the sums of what they measured. */
async function run(outfile, workers, zones) {
  const { ZoneSet } = await import(outfile);
  const base = mkdtempSync(join(process.platform === 'linux' ? '/dev/shm' : tmpdir(), 'sluice-micro-'));
  const remove = () => rmSync(base, { recursive: true, force: true });
  process.once('exit', remove);
  const log = { log: (_level, text) => console.error(text) };
  const all = refs(await import(outfile));
  const sets = Array.from({ length: values.apart ? workers : 1 }, () => new ZoneSet(base, undefined, log));
  const plans = sets.map((set) => set.prepare(all));
  const args = ['--child', outfile];
  for (const name of ['batch', 'work', 'keys', 'seconds']) {
    args.push(`--${name}`, values[name]);
  }
  const children = Array.from({ length: workers }, () =>
    fork(process.argv[1], args, { execArgv: ['--no-parallel-scavenge', ...process.execArgv] }),
  );
  try {
    const answers = () => Promise.all(children.map((child) => new Promise((done) => child.once('message', done))));
    await answers();
    for (const [i, child] of children.entries()) {
      child.send({ plan: plans[i % plans.length], zones });
    }
    await answers();
    for (const child of children) {
      child.send('go');
    }
    const results = await answers();
    const sum = (name) => results.reduce((total, result) => total + result[name], 0);
    const at = (share, name = 'waits') => {
      const all = results.flatMap((result) => result[name]).sort((a, b) => a - b);
      return all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0;
    };
    return {
      cpu: at(0.25, 'costs'),
      perSecond: sum('decisions') / seconds,
      switches: sum('switches') / sum('decisions'),
      p50: at(0.5),
      p99: at(0.99),
      max: at(1),
    };
  } finally {
    for (const child of children) {
      child.kill();
    }
    for (const set of sets) {
      set.close();
    }
    process.off('exit', remove);
    remove();
  }
}

function refs({ rateZone, connZone }) {
  const key = { text: '$arg_k' };
  return [
    { name: 'rate', kind: rateZone, bytes: 10 << 20, data: { rate: 1e9, key } },
    { name: 'count', kind: connZone, bytes: 10 << 20, data: { key } },
  ];
}

/** One worker: turns of its event loop, each with a batch of requests that pass limit_req, then limit_conn, and end. */
async function turns(parts) {
  const { SqliteZoneStore, RateDecision, ENTERED, monotonicMs } = parts;
  process.send?.('ready');
  const { plan, zones } = await new Promise((done) => process.once('message', done));
  const [rate, count] = refs(parts);
  const store = new SqliteZoneStore(plan, [rate, count], process.pid, { log: (_level, text) => console.error(text) });
  const limits = [{ zone: store.open(rate), burst: 1e9, delay: 1e9 }];
  const conns = store.open(count);
  conns.limit(10_000);
  const byRate = store.together([rate]);
  const byCount = store.together([count]);
  const waits = [];
  const costs = [];
  let decisions = 0;
  let key = process.pid;
  let pending = 0;
  let turnDone;

  const finish = (name, began) => {
    burn(work);
    if (name !== undefined) {
      conns.leave(name);
    }
    decisions++;
    if ((decisions & 7) === 0) {
      waits.push((performance.now() - began) * 1000);
    }
    if (--pending === 0) {
      turnDone();
    }
  };
  const enter = (name, began) => {
    if (conns.hasPlace(name)) {
      conns.enterNow(name);
      finish(name, began);
      return;
    }
    byCount.submit({
      work() {
        if (conns.enter(name, 10_000) !== ENTERED) {
          throw new Error('refused');
        }
      },
      after: () => finish(name, began),
    });
  };
  const turn = async () => {
    const began = performance.now();
    pending = batch;
    const done = new Promise((resolve) => {
      turnDone = resolve;
    });
    for (let i = 0; i < batch; i++) {
      key = (key + 7919) % keys;
      const name = `10.${key}`;
      if (!zones) {
        setImmediate(finish, undefined, began);
        continue;
      }
      const decision = new RateDecision();
      byRate.submit({ work: () => decision.decide(limits, [name], monotonicMs()), after: () => enter(name, began) });
    }
    await done;
    await new Promise(setImmediate);
  };
  for (let i = 0; i < WARM_UP; i++) {
    await turn();
  }
  process.send?.('warm');
  await new Promise((done) => process.once('message', done));
  decisions = waits.length = 0;
  const switches = switchesSoFar();
  for (const until = performance.now() + seconds * 1000; performance.now() < until; ) {
    const start = process.cpuUsage();
    for (let i = 0; i < RUN; i++) {
      await turn();
    }
    const { user, system } = process.cpuUsage(start);
    costs.push((user + system) / (RUN * batch));
  }
  store.close();
  process.send?.({ costs, decisions, waits, switches: switchesSoFar() - switches }, () => process.exit(0));
}

function switchesSoFar() {
  const { involuntaryContextSwitches, voluntaryContextSwitches } = process.resourceUsage();
  return involuntaryContextSwitches + voluntaryContextSwitches;
}

// A number of steps and not a time: a worker that is interrupted has as much to do as before.
function burn(us) {
  let sum = noise;
  for (let i = us * STEPS; i > 0; i--) {
    sum = (Math.imul(sum, 31) + i) | 0;
  }
  noise = sum;
}
