// Measures machines that share a store: what a limited request costs them and the store, how long it waits, and what a flood asks for. The
// machines are four installations of this build, each in a folder of its own.
//
//   node scripts/bench/fleet.mjs [--store PATH] [--seconds S] [--rounds N] [--away MS]
//
// CPU is that of the processes, from /proc; the machine may do something else beside it. `--away` is how long bytes to the store take in
// the part about times, in milliseconds each way: choose more than the pauses of the machine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuOf } from './measure.mjs';
import { freePort } from './servers.mjs';

const { values: options } = parseArgs({
  options: {
    store: { type: 'string', default: 'redis-server' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    away: { type: 'string', default: '2' },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const AWAY = Number(options.away);
const CONNECTIONS = 64;
const program = new URL('../../dist/sluice.js', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'sluice-fleet-'));
// Workers that root started belong to nobody.
chmodSync(folder, 0o755);
/** @type {import('node:child_process').ChildProcess[]} */
const children = [];

/** Starts a process that ends with this one. @param {string} file @param {string[]} args */
function run(file, args) {
  const child = spawn(file, args, { stdio: 'ignore' });
  children.push(child);
  return child;
}

/** Waits until somebody accepts at a port. @param {number} port */
async function accepting(port) {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const done = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false);
    socket.destroy();
    if (done) {
      return;
    }
    await sleep(20);
  }
}

const store = await freePort();
const storeProcess = run(options.store, ['--port', String(store), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']);
await accepting(store);

/** One command of the store. @param {string} line */
async function ask(line) {
  const socket = connect(store, '127.0.0.1');
  socket.write(`${line}\r\n`);
  let text = '';
  for await (const piece of socket) {
    text += piece;
    const [head, length] = /^\$(\d+)\r\n/.exec(text) ?? [];
    if (head === undefined || text.length >= head.length + Number(length) + 2) {
      break;
    }
  }
  return text;
}

const scriptCalls = async () =>
  [...(await ask('INFO commandstats')).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);

/** Starts a machine; gives its port and process. @param {string} name @param {number} at the store's port */
async function machine(name, at) {
  const port = await freePort();
  const dir = join(folder, name);
  mkdirSync(join(dir, 'html'), { recursive: true });
  writeFileSync(join(dir, 'html', '1k.html'), 'x'.repeat(1024));
  writeFileSync(
    join(dir, 'sluice.conf'),
    `worker_processes 1; daemon off; pid ${dir}/pid; error_log ${dir}/error.log notice;
    shared_store bench { server 127.0.0.1:${at}; timeout 2s; node ${name}; }
    events {}
    http {
      access_log off; keepalive_requests 1000000000;
      limit_req_zone $arg_k zone=local:10m rate=1000000r/s;
      limit_req_zone $arg_k zone=all:10m rate=1000000r/s sync;
      limit_req_zone $arg_k zone=flood:10m rate=1r/s sync;
      server {
        listen 127.0.0.1:${port}; root ${dir}/html;
        location /none { alias ${dir}/html; }
        location /local { limit_req zone=local burst=100000 nodelay; alias ${dir}/html; }
        location /sync { limit_req zone=all burst=100000 nodelay; alias ${dir}/html; }
        location /flood { limit_req zone=flood burst=5 nodelay; limit_req_log_level info; alias ${dir}/html; }
      }
    }\n`,
  );
  const child = run(process.execPath, [program, '-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'error.log']);
  await accepting(port);
  while (!readFileSync(join(dir, 'error.log'), 'latin1').includes('is connected')) {
    await sleep(20);
  }
  return { port, pid: /** @type {number} */ (child.pid) };
}

/**
 * Asks over kept connections, one request after the other on each. @param {number} port @param {string} path @param {number} ms
 * @param {number} connections @param {number[]} [times] milliseconds of each request
 * @returns {Promise<Record<string, number>>} how many answers of each status came
 */
async function load(port, path, ms, connections = CONNECTIONS, times = undefined) {
  const until = performance.now() + ms;
  /** @type {Record<string, number>} */
  const statuses = {};
  await Promise.all(
    Array.from({ length: connections }, async (_, i) => {
      const socket = connect(port, '127.0.0.1').setNoDelay();
      const request = `GET ${path}/1k.html?k=${path === '/flood' ? 'one' : i} HTTP/1.1\r\nHost: a\r\n\r\n`;
      let text = '';
      let from = performance.now();
      socket.write(request);
      for await (const piece of socket) {
        text += piece.toString('latin1');
        const end = text.indexOf('\r\n\r\n');
        const length = Number(/\r\nContent-Length: (\d+)/.exec(text)?.[1] ?? 0);
        if (end === -1 || text.length < end + 4 + length) {
          continue;
        }
        const status = text.slice(9, 12);
        statuses[status] = (statuses[status] ?? 0) + 1;
        const now = performance.now();
        times?.push(now - from);
        if (now > until) {
          break;
        }
        text = '';
        from = now;
        socket.write(request);
      }
      socket.destroy();
    }),
  );
  return statuses;
}

/** @param {number[]} all @param {number} q */
const quantile = (all, q) => [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(q * all.length))] ?? Number.NaN;
/** @param {number} n */
const shown = (n) => n.toFixed(2);

/** A way to the store on which bytes take a while. */
async function distant() {
  const server = createServer((socket) => {
    const other = connect(store, '127.0.0.1');
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ]) {
      from
        .setNoDelay()
        .on('error', () => {})
        .on('close', () => to.destroy())
        .on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), AWAY));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: /** @type {import('node:net').AddressInfo} */ (server.address()).port };
}

try {
  const [first, ...others] = [
    await machine('m1', store),
    await machine('m2', store),
    await machine('m3', store),
    await machine('m4', store),
  ];
  const worker = () => cpuOf(first.pid);
  /** @type {Record<string, number[]>} */
  const costs = { '/none': [], '/local': [], '/sync': [] };
  const ofStore = [];
  const perCall = [];
  for (const path of Object.keys(costs)) {
    await load(first.port, path, 1500);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const path of Object.keys(costs)) {
      const [before, storeBefore, calls] = [worker(), cpuOf(/** @type {number} */ (storeProcess.pid)), await scriptCalls()];
      const { 200: ok = 0, ...rest } = await load(first.port, path, SECONDS * 1000);
      if (Object.keys(rest).length > 0) {
        console.log(`${path}: ${JSON.stringify(rest)}`);
      }
      costs[path]?.push((worker() - before) / ok);
      if (path === '/sync') {
        ofStore.push((cpuOf(/** @type {number} */ (storeProcess.pid)) - storeBefore) / ok);
        perCall.push(ok / ((await scriptCalls()) - calls));
      }
    }
  }
  const [none, local, sync] = Object.values(costs).map((all) => quantile(all, 0.5));
  console.log(
    `CPU a request, microseconds: ${shown(none)} without a limit, ${shown(local)} local, ${shown(sync)} sync: ${shown(sync / local)}`,
  );
  const decision = quantile(ofStore, 0.5);
  console.log(
    `store: ${shown(decision)} a decision, ${Math.round(1e6 / decision)} a second of a core, ${shown(quantile(perCall, 0.5))} a call`,
  );

  // The first requests of all come before anybody knows that the bucket is full.
  await Promise.all([first, ...others].map(({ port }) => load(port, '/flood', 1000, 16)));
  const before = await scriptCalls();
  const flooded = await Promise.all([first, ...others].map(({ port }) => load(port, '/flood', SECONDS * 1000, 16)));
  const asked = (await scriptCalls()) - before;
  // Each machine tells of itself every two seconds besides.
  console.log(
    `flood of one key from four machines: ${shown(asked / SECONDS)} calls a second, two of which tell of the machines, ${JSON.stringify(flooded)}`,
  );

  const way = await distant();
  const far = await machine('far', way.port);
  const trip = [];
  for (let i = 0; i < 200; i++) {
    const socket = connect(way.port, '127.0.0.1').setNoDelay();
    await once(socket, 'connect');
    socket.write('PING\r\n');
    await once(socket, 'data');
    const from = performance.now();
    socket.write('PING\r\n');
    await once(socket, 'data');
    trip.push(performance.now() - from);
    socket.destroy();
  }
  /** @type {number[]} */
  const near = [];
  /** @type {number[]} */
  const away = [];
  for (let round = 0; round < ROUNDS; round++) {
    await load(far.port, '/local', SECONDS * 1000, 4, near);
    await load(far.port, '/sync', SECONDS * 1000, 4, away);
  }
  for (const q of [0.5, 0.99]) {
    const [a, b, c] = [quantile(near, q), quantile(away, q), quantile(trip, 0.5)];
    console.log(`time at ${q}: local ${shown(a)} ms, sync ${shown(b)} ms, a round trip ${shown(c)} ms: ${shown((b - a) / c)} trips more`);
  }
  way.server.close();
} finally {
  for (const child of children.reverse()) {
    child.kill('SIGTERM');
  }
  await sleep(500);
  for (const child of children) {
    child.kill('SIGKILL');
  }
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
