// Memory of proxied connections of TCP on which nothing moves: in sluice's worker, and in nginx's.
//
//   node scripts/bench/idle-sessions.mjs [--sessions N] [--nginx PATH]
//
// Each has exchanged a few bytes, so that it has what it needs. A worker's descriptors bound the number: each takes two.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { atMost } from './goal.mjs';
import { commands, configuration, freePort, prepare, start, stop, workFolder } from './servers.mjs';

const { values: options } = parseArgs({
  options: { sessions: { type: 'string', default: '4000' }, nginx: { type: 'string', default: 'nginx' } },
});
const sessions = Number(options.sessions);
/** As many connections are opened at a time. */
const BATCH = 200;

/** Resident kilobytes of a server's workers. */
function memoryOfWorkers(master) {
  const workers = execFileSync('pgrep', ['-P', String(master)], { encoding: 'utf8' })
    .trim()
    .split('\n');
  return workers.reduce((sum, pid) => sum + Number(/^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]), 0);
}

function exchangeOne(port, i) {
  return new Promise((done, fail) => {
    // Several addresses, since one has no more than some 28,000 ports.
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.1.${1 + (i % 5)}` });
    socket.once('error', fail).once('data', () => done(socket));
    socket.write('x');
  });
}

async function measure(name, command, backend) {
  const dir = `${work}/${name}`;
  mkdirSync(dir);
  const port = await freePort();
  const row = { stream: 'proxy_pass %%BACKEND%%; proxy_timeout 1h;', paths: [] };
  const refusal = prepare(command, dir, configuration({ dir, port, row, backend }));
  if (refusal !== undefined) {
    throw new Error(refusal);
  }
  const pid = await start(command, dir);
  const before = memoryOfWorkers(pid);
  const open = [];
  while (open.length < sessions) {
    const size = Math.min(BATCH, sessions - open.length);
    open.push(...(await Promise.all(Array.from({ length: size }, (_, i) => exchangeOne(port, open.length + i)))));
  }
  await sleep(2000);
  const value = (memoryOfWorkers(pid) - before) / sessions;
  const aim = name === 'sluice' ? atMost({ value, goal: 8, unit: ' KB' }) : '';
  console.log(`${name}: ${value.toFixed(1)} KB for each of ${sessions} idle sessions${aim}`);
  for (const socket of open) {
    socket.destroy();
  }
  await stop(pid);
}

const work = workFolder();
const echo = createServer((socket) => void socket.pipe(socket).on('error', () => {}));
await new Promise((done) => echo.listen(0, '127.0.0.1', 4096, () => done(undefined)));
const backend = `127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (echo.address()).port}`;
for (const [name, command] of Object.entries(commands(options.nginx))) {
  await measure(name, command, backend);
}
echo.close();
