// What one decision of a shared zone costs without requests around it: workers that ask limit_req and limit_conn in each turn of their event loops, alone and
// several on one zone. Prints microseconds of CPU time a decision beside the same turns without zones, how long decisions wait, and what the kernel was asked.
//
//   node scripts/bench/micro/zone.mjs [--workers 1,4] [--batch 8] [--work 8] [--keys 1000] [--seconds 2] [--rounds 3]
//
// batch: requests in one turn; work: microseconds of other work for each of them.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,4' },
    batch: { type: 'string', default: '8' },
    work: { type: 'string', default: '8' },
    keys: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    child: { type: 'string' },
    base: { type: 'string' },
  },
});
const [batch, work, keys, seconds, rounds] = ['batch', 'work', 'keys', 'seconds', 'rounds'].map((name) => Number(values[name]));
/** Steps of `burn` in a microsecond, or so. */
const STEPS = 700;
let noise = 1;
const SOURCES = new URL('../../../src/', import.meta.url).pathname;

if (values.child === undefined) await compare();
else await turns(await import(values.child));

/** The whole measurement: all numbers of workers in turn, with zones and without. */
async function compare() {
  const outfile = new URL(`../../../node_modules/.cache/sluice-zone-${process.pid}.mjs`, import.meta.url).pathname;
  await build({
    stdin: {
      contents: `export { ZoneSet } from './shared/zone/zone-set.js';
export { SqliteZoneStore } from './shared/zone/store.js';
export { monotonicMs } from './shared/zone/monotonic.js';
export { rateZone, RateDecision } from './worker/modules/limit-req/zone.js';
export { connZone, ENTERED } from './worker/modules/limit-conn/zone.js';`,
      resolveDir: SOURCES,
      loader: 'ts',
    },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  process.once('exit', () => rmSync(outfile));
  const best = new Map();
  const counts = values.workers.split(',').map(Number);
  for (let round = 0; round < rounds; round++) {
    for (const workers of counts) {
      for (const zones of [false, true]) {
        const name = `${workers} ${zones ? 'with zones' : 'without'}`;
        const result = await run(outfile, workers, zones);
        if (!(best.get(name)?.cpu < result.cpu)) best.set(name, result);
      }
    }
  }
  for (const workers of counts) {
    const bare = best.get(`${workers} without`);
    const zoned = best.get(`${workers} with zones`);
    console.log(
      `${workers} workers: ${(zoned.cpu - bare.cpu).toFixed(2)} us a decision (${zoned.cpu.toFixed(2)} with its request's work), ` +
        `waits ${zoned.p50.toFixed(0)}/${zoned.p99.toFixed(0)}/${zoned.max.toFixed(0)} us (p50/p99/max), ${zoned.perSecond.toFixed(0)} a second, ${zoned.switches.toFixed(3)} context switches each`,
    );
  }
}

/** Some workers at once; the sums of what they measured. */
async function run(outfile, workers, zones) {
  const { ZoneSet } = await import(outfile);
  const base = mkdtempSync(join(process.platform === 'linux' ? '/dev/shm' : tmpdir(), 'sluice-micro-'));
  const log = { log: (_level, text) => console.error(text) };
  const set = new ZoneSet(base, undefined, log);
  const plan = set.prepare(refs(await import(outfile)));
  const args = ['--child', outfile];
  for (const name of ['batch', 'work', 'keys', 'seconds']) args.push(`--${name}`, values[name]);
  const children = Array.from({ length: workers }, () =>
    fork(process.argv[1], args, { execArgv: ['--no-parallel-scavenge', ...process.execArgv] }),
  );
  try {
    await Promise.all(children.map((child) => new Promise((done) => child.once('message', done))));
    for (const child of children) child.send({ plan, zones });
    const results = await Promise.all(children.map((child) => new Promise((done) => child.once('message', done))));
    const sum = (name) => results.reduce((total, result) => total + result[name], 0);
    const waits = results.flatMap((result) => result.waits).sort((a, b) => a - b);
    const at = (share) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0;
    return {
      cpu: sum('cpu') / sum('decisions'),
      perSecond: sum('decisions') / seconds,
      switches: sum('switches') / sum('decisions'),
      p50: at(0.5),
      p99: at(0.99),
      max: at(1),
    };
  } finally {
    for (const child of children) child.kill();
    set.close();
    rmSync(base, { recursive: true, force: true });
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
  process.send('ready');
  const { plan, zones } = await new Promise((done) => process.once('message', done));
  const [rate, count] = refs(parts);
  const store = new SqliteZoneStore(plan, [rate, count], process.pid, { log: (_level, text) => console.error(text) });
  const limits = [{ zone: store.open(rate), burst: 1e9, delay: 1e9 }];
  const conns = store.open(count);
  conns.limit(10_000);
  const byRate = store.together([rate]);
  const byCount = store.together([count]);
  const waits = [];
  let decisions = 0;
  let key = process.pid;
  let pending = 0;
  let measuring = false;
  const until = performance.now() + 300 + seconds * 1000;
  let start;
  let usage;
  let turnDone;

  const finish = (name, began) => {
    burn(work);
    if (name !== undefined) conns.leave(name);
    if (measuring) {
      decisions++;
      if ((decisions & 7) === 0) waits.push((performance.now() - began) * 1000);
    }
    if (--pending === 0) turnDone();
  };
  const enter = (name, began) => {
    if (conns.hasPlace(name)) {
      conns.enterNow(name);
      finish(name, began);
      return;
    }
    byCount.submit({
      work() {
        if (conns.enter(name, 10_000) !== ENTERED) throw new Error('refused');
      },
      after: () => finish(name, began),
    });
  };
  for (;;) {
    const now = performance.now();
    if (!measuring && now > until - seconds * 1000) {
      measuring = true;
      start = process.cpuUsage();
      usage = process.resourceUsage();
    }
    if (now > until) break;
    pending = batch;
    const done = new Promise((resolve) => {
      turnDone = resolve;
    });
    for (let i = 0; i < batch; i++) {
      key = (key + 7919) % keys;
      const name = `10.${key}`;
      if (!zones) {
        setImmediate(finish, undefined, now);
        continue;
      }
      const decision = new RateDecision();
      byRate.submit({ work: () => decision.decide(limits, [name], monotonicMs()), after: () => enter(name, now) });
    }
    await done;
    await new Promise(setImmediate);
  }
  const { user, system } = process.cpuUsage(start);
  const { involuntaryContextSwitches, voluntaryContextSwitches } = process.resourceUsage();
  const switches =
    involuntaryContextSwitches + voluntaryContextSwitches - usage.involuntaryContextSwitches - usage.voluntaryContextSwitches;
  store.close();
  process.send({ cpu: user + system, decisions, waits, switches }, () => process.exit(0));
}

// A number of steps and not a time: a worker that is interrupted has as much to do as before.
function burn(us) {
  for (let i = us * STEPS; i > 0; i--) noise = (Math.imul(noise, 31) + i) | 0;
}
