// Measures what shared zones cost when many want them: one worker beside four on one zone, each beside the same without limits and beside
// nginx, and a thousand keys beside a million through a zone of ten megabytes. Prints CPU microseconds a request, latency, and what the
// zone's files and the workers' memory grew to.
//
//   node scripts/bench/zones.mjs [contention] [growth] [--rounds N] [--seconds S] [--keys N] [--nginx PATH]
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { atMost } from './goal.mjs';
import { cpuOf, memoryOf } from './measure.mjs';
import { commands, freePort, prepare, start, stop, workFolder } from './servers.mjs';
import { load } from './wrk.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nginx: { type: 'string', default: 'nginx' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    keys: { type: 'string', default: '1000000' },
  },
});
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const manyKeys = Number(options.keys);
const LIMITS = 'location / { limit_req zone=rate burst=100000 nodelay; limit_conn count 10000; }';
/** Every core: workers have to contend, not to queue for one. */
const ALL_CORES = '0-31';
/** Requests after which V8 has compiled what a request runs through. Each worker compiles for itself, so four need four times as many. */
const WARM_UP = 250_000;
let launched = 0;
/** Where the zones of the server are that was launched last. */
let zonesPath = '';

const work = workFolder();
mkdirSync(`${work}/docs`);
writeFileSync(`${work}/docs/1k.html`, 'x'.repeat(1024));

if (positionals.length === 0 || positionals.includes('contention')) {
  await contention();
}
if (positionals.length === 0 || positionals.includes('growth')) {
  await distinctKeys();
}
process.exit(0);

/**
 * The same load on one worker and on four, with limits and without, in turn; then on four servers of one worker each, which share no
 * zone. They tell what the machine makes of four processes, as do four workers without any limit.
 */
async function contention() {
  const script = keyScript('contention', 1000);
  const contenders = [];
  for (const server of Object.keys(commands(options.nginx))) {
    for (const [name, location] of [
      ['no limits', 'location / { }'],
      ['limits', LIMITS],
    ]) {
      for (const workers of [1, 4]) {
        contenders.push({ server, name, workers, targets: [await launch(workers, location, server)], measured: /** @type {any[]} */ ([]) });
      }
    }
    const targets = [];
    for (let i = 0; i < 4; i++) {
      targets.push(await launch(1, LIMITS, server));
    }
    contenders.push({ server, name: 'apart', workers: 4, targets, measured: /** @type {any[]} */ ([]) });
  }
  for (const each of contenders) {
    await warmUp(each, script);
  }
  for (let round = 0; round < rounds; round++) {
    for (const each of contenders) {
      each.measured.push(await measure(each, script));
    }
  }
  for (const { targets } of contenders) {
    for (const { pid } of targets) {
      await stop(pid);
    }
  }
  for (const { server, name, workers, measured } of contenders) {
    console.log(`${server.padEnd(6)} ${name.padEnd(9)} ${workers} worker${workers > 1 ? 's' : ' '}: ${line(measured)}`);
  }
  for (const server of new Set(contenders.map((each) => each.server))) {
    const cpu = (name, workers) =>
      median(contenders.find((each) => each.server === server && each.name === name && each.workers === workers).measured, 'cpu');
    const ratio = (a, b) => (a / b).toFixed(2);
    const value = cpu('limits', 4) / cpu('limits', 1);
    const aim = server === 'sluice' ? atMost({ value, goal: 1.15 }) : '';
    console.log(
      `${server.padEnd(6)} four workers to one: no limits ${ratio(cpu('no limits', 4), cpu('no limits', 1))}, limits ${value.toFixed(2)}${aim}, ` +
        `apart ${ratio(cpu('apart', 4), cpu('limits', 1))}; limits to none: one worker ${ratio(cpu('limits', 1), cpu('no limits', 1))}, four ${ratio(cpu('limits', 4), cpu('no limits', 4))}`,
    );
  }
}

async function warmUp({ targets, server, workers }, script) {
  const enough = server === 'nginx' ? 1000 : WARM_UP * workers;
  for (let requests = 0; requests < enough; ) {
    for (const { requests: more } of await loadAll(targets, script, 2)) {
      requests += more;
    }
  }
}

/** 64 connections, divided among the servers. */
function loadAll(targets, script, duration) {
  const row = { paths: ['/1k.html'], connections: 64 / targets.length };
  return Promise.all(targets.map(({ port }) => load({ script, port, row, seconds: duration })));
}

/** A thousand keys beside so many that the zone cannot hold them, of each server. */
async function distinctKeys() {
  const few = keyScript('few', 1000);
  const many = keyScript('many', manyKeys);
  const contenders = [];
  for (const server of Object.keys(commands(options.nginx)).reverse()) {
    const target = await launch(1, LIMITS, server);
    const contender = { server, workers: 1, targets: [target], few: /** @type {any[]} */ ([]), many: /** @type {any[]} */ ([]) };
    contenders.push(contender);
    await warmUp(contender, few);
    const before = memoryOf(target.pid);
    let requests = 0;
    while (requests < manyKeys) {
      for (const { requests: more } of await loadAll(contender.targets, many, 5)) {
        requests += more;
      }
    }
    console.log(
      `${server.padEnd(6)} after ${requests} requests of as many keys: memory ${before.toFixed(1)} to ${memoryOf(target.pid).toFixed(1)} MB` +
        (server === 'sluice' ? `, files ${files()}` : ''),
    );
  }
  for (let round = 0; round < rounds; round++) {
    for (const each of contenders) {
      each.few.push(await measure(each, few));
    }
    for (const each of contenders) {
      each.many.push(await measure(each, many));
    }
  }
  for (const each of contenders) {
    const server = each.server.padEnd(6);
    console.log(`${server} 1000 keys:     ${line(each.few)}`);
    console.log(`${server} ${manyKeys} keys:  ${line(each.many)}`);
    const value = median(each.many, 'cpu') / median(each.few, 'cpu');
    const aim = each.server === 'sluice' ? atMost({ value, goal: 1.2 }) : '';
    console.log(`${server} many to few:   ${value.toFixed(2)}${aim}`);
    await stop(each.targets[0].pid);
  }
  const [ours, nginx] = contenders;
  if (nginx !== undefined) {
    const value = median(ours.many, 'cpu') / median(nginx.many, 'cpu');
    console.log(`many keys, of nginx: ${value.toFixed(2)}${atMost({ value, goal: 1.2 })}`);
  }
}

async function launch(workers, location, server) {
  const dir = `${work}/${launched++}`;
  const zones = `${dir}/zones`;
  mkdirSync(zones, { recursive: true });
  chmodSync(zones, 0o777);
  const port = await freePort();
  const command = commands(options.nginx)[server];
  const refusal = prepare(
    command,
    dir,
    `worker_processes ${workers}; worker_rlimit_nofile 20000; pid ${dir}/server.pid; error_log ${dir}/error.log warn; ${server === 'nginx' ? '' : zoneFolder(zones)}
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 100000000;
  limit_req_zone $arg_k zone=rate:10m rate=1000000r/s;
  limit_conn_zone $arg_k zone=count:10m;
  server { listen 127.0.0.1:${port}; root ${work}/docs; ${location} }
}
`,
  );
  if (refusal !== undefined) {
    throw new Error(refusal);
  }
  return { port, zones, pid: await start(command, dir, ALL_CORES) };
}

// Memory where there is such a file system, as the server itself would choose; elsewhere the folder of the run.
function zoneFolder(folder) {
  try {
    const shared = mkdtempSync('/dev/shm/sluice-bench-');
    chmodSync(shared, 0o777);
    process.once('exit', () => rmSync(shared, { recursive: true, force: true }));
    zonesPath = shared;
  } catch {
    zonesPath = folder;
  }
  return `zone_directory ${zonesPath};`;
}

function files() {
  const run = readdirSync(zonesPath).find((name) => name.startsWith('sluice-'));
  const folder = `${zonesPath}/${run}`;
  const sizes = readdirSync(folder)
    .filter((name) => name.startsWith('rate-'))
    .map((name) => `${name} ${(statSync(`${folder}/${name}`).size / 1024 / 1024).toFixed(1)} MB`);
  return sizes.join(', ');
}

async function measure({ targets }, script) {
  // Back from a pause: V8 uses one to collect garbage, and caches have forgotten.
  await loadAll(targets, script, 1);
  const used = () => targets.reduce((sum, { pid }) => sum + cpuOf(pid), 0);
  const before = used();
  const results = await loadAll(targets, script, seconds);
  const sum = (name) => results.reduce((total, result) => total + result[name], 0);
  const worst = (name) => Math.max(...results.map((result) => result[name]));
  if (sum('refused') + sum('broken') > 0) {
    throw new Error(`${sum('refused')} requests were refused and ${sum('broken')} broken`);
  }
  return { cpu: (used() - before) / sum('requests'), p50: worst('p50'), p99: worst('p99'), perSecond: sum('requests') / seconds };
}

/** A script by which wrk asks with so many keys in turn. Each run begins elsewhere, so that several together come to all keys. */
function keyScript(name, keys) {
  const file = `${work}/${name}.lua`;
  writeFileSync(
    file,
    `local i = os.time() * 15485863 % ${keys}
function request()
  i = (i + 7919) % ${keys}
  return wrk.format('GET', '/1k.html?k=10.' .. i)
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT %d %d %d %d %d %d\\n', summary.requests, summary.bytes, latency:percentile(50), latency:percentile(99), e.status, e.connect + e.read + e.write + e.timeout))
end
`,
  );
  return file;
}

function median(measured, key) {
  return measured.map((round) => round[key]).sort((a, b) => a - b)[Math.floor(measured.length / 2)];
}

function line(measured) {
  const of = (key, digits = 0) => median(measured, key).toFixed(digits);
  return `${of('cpu', 2)} us of CPU a request, latency ${of('p50')}/${of('p99')} us (p50/p99), ${of('perSecond')} a second`;
}
