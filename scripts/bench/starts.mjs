// Starts, and memory at rest, of sluice beside nginx by turns: how soon a start answers, and a server whose worker was killed; the same
// with large configurations; what the processes take five seconds later, with nothing to do. The smallest of the rounds counts.
//
//   node scripts/bench/starts.mjs [ROW ...] [--rounds N] [--nginx PATH] [--realtime]
//
// --realtime: the servers and this program go before everything else on the machine (chrt), so that others do not disturb.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { atMost } from './goal.mjs';
import { takenBy, treeOf } from './measure.mjs';
import { commands, configuration, freePort, kill, workFolder } from './servers.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { nginx: { type: 'string', default: 'nginx' }, rounds: { type: 'string', default: '5' }, realtime: { type: 'boolean' } },
});
const work = workFolder();
const rounds = Number(options.rounds);
const AT_REST = 15_000;
const NO_BACKENDS = { backend: undefined, responder: undefined, sink: undefined, echo: undefined, store: undefined };
/** @type {(n: number, make: (i: number) => string) => string} */
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i)).join('\n');
const ok = 'location / { return 200 ok; }';
const CACHE = 'proxy_cache_path %%DIR%%/cache keys_zone=c:10m;';

/**
 * `goal`: milliseconds to the first answer; `memory`: megabytes at rest, or none where nobody wants to know; `beyond`: less those of that
 * row.
 * @typedef {{ row: object, goal?: number, memory?: number, kills?: boolean, beyond?: string }} Row
 * @type {Record<string, Row>}
 */
const rows = {
  start: { row: { server: ok }, goal: 150, memory: 45 },
  killed: { row: { server: ok }, goal: 150, kills: true },
  cache: { row: { http: CACHE, server: `${ok} location /p { proxy_pass http://127.0.0.1:1; proxy_cache c; }` }, memory: 60 },
  worker: { row: { server: ok, workers: 2 }, memory: 20, beyond: 'start' },
  servers: {
    row: {
      http: `server_names_hash_max_size 65536; ${times(10_000, (i) => `server { listen unix:%%DIR%%/socket; server_name name${i}.example.com; ${ok} }`)}`,
      server: ok,
    },
    goal: 1200,
    memory: 200,
  },
  locations: { row: { server: `${ok} ${times(5000, (i) => `location /folder${i}/part/ { return 200 ok; }`)}` }, goal: 500 },
  map: {
    row: {
      http: `map_hash_max_size 262144; map $uri $found { default none; ${times(100_000, (i) => `/key${i} value${i};`)} }`,
      server: 'location / { return 200 $found; }',
    },
    goal: 600,
  },
};

const unknown = positionals.filter((name) => !(name in rows));
if (unknown.length > 0) {
  throw new Error(`no such row: ${unknown.join(', ')} (${Object.keys(rows).join(', ')})`);
}
if (options.realtime) {
  spawnSync('chrt', ['-r', '-p', '2', String(process.pid)]);
}
const servers = Object.entries(commands(options.nginx)).reverse();
/** @type {Record<string, Record<string, { ms: number[], memory: number[] }>>} */
const found = {};
let launched = 0;
let running = 0;
process.once('exit', () => running > 0 && kill(-running));
for (const [name, row] of Object.entries(rows)) {
  if (positionals.length > 0 && !positionals.includes(name)) {
    continue;
  }
  const texts = [];
  let aims = '';
  for (const [server] of servers) {
    found[server] ??= {};
    found[server][name] = { ms: [], memory: [] };
  }
  for (let round = 0; round < rounds; round++) {
    for (const [server, command] of servers) {
      const { ms, memory } = await measure(command, row);
      found[server][name].ms.push(ms);
      found[server][name].memory.push(memory);
    }
  }
  for (const [server] of servers) {
    /** @type {(key: 'ms' | 'memory', row: string) => number} */
    const of = (key, row) => Math.min(...(found[server][row]?.[key] ?? [Number.NaN]));
    const memory = of('memory', name) - (row.beyond === undefined ? 0 : of('memory', row.beyond));
    const time = row.goal === undefined ? [] : [`${of('ms', name).toFixed(0)} ms`];
    texts.push(`${server} ${[...time, ...(row.memory === undefined ? [] : [`${memory.toFixed(1)} MB`])].join(', ')}`);
    if (server === 'sluice') {
      aims = atMost({ value: of('ms', name), goal: row.goal, unit: ' ms' }, { value: memory, goal: row.memory, unit: ' MB' });
    }
  }
  console.log(`${name}: ${texts.join('; ')}${aims}`);
}
process.exit(0);

/**
 * @param {readonly string[]} command
 * @param {Row} row
 */
async function measure(command, { row, kills, memory }) {
  const dir = `${work}/${launched++}`;
  mkdirSync(`${dir}/logs`, { recursive: true });
  const port = await freePort();
  writeFileSync(`${dir}/server.conf`, configuration({ ...NO_BACKENDS, dir, docs: work, port, row }));
  const [file, ...first] = options.realtime ? ['chrt', '-r', '1', ...command] : command;
  const args = [...first, '-p', `${dir}/`, '-c', 'server.conf', '-e', 'error.log', '-g', 'daemon off;'];
  let began = performance.now();
  const child = spawn(file, args, { stdio: 'ignore', detached: true });
  running = Number(child.pid);
  await answer(port);
  if (kills) {
    await sleep(1000);
    const worker = treeOf(running).find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('worker process'));
    began = performance.now();
    kill(worker);
    await answer(port);
  }
  const ms = performance.now() - began;
  let taken = 0;
  if (memory !== undefined) {
    await sleep(AT_REST);
    const { own, files } = takenBy(running);
    taken = own + files;
  }
  const ended = new Promise((done) => child.once('exit', done));
  kill(running, 'SIGTERM');
  await ended;
  running = 0;
  return { ms, memory: taken };
}

/** @param {number} port */
async function answer(port) {
  while (!(await answers(port))) {
    // It is tried again.
  }
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function answers(port) {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    socket.once('data', () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => {});
    // Who tries without a pause takes one of two cores from the server.
    socket.once('close', () => setTimeout(done, 1, false));
  });
}
