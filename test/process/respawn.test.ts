import t from 'tap';
import { againstNginx, product } from '../support/binary.js';
import { isAlive, titleOf } from '../support/processes.js';
import { httpGet } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const conf = serverConf('location / { return 200 hello; }');
const expectAlerts = /exited on signal [69]/;
const serving = (s: Server) => s.workers().filter((pid) => titleOf(pid) === `${product}: worker process`);

t.test('connections wait while all workers are being replaced', async (t) => {
  const s = await startServer(t, { conf: `worker_processes 2;\n${conf}`, expectAlerts });
  for (const pid of s.workers()) {
    process.kill(pid, 'SIGKILL');
  }
  await waitFor(() => s.log().match(/exited on signal 9/g)?.length === 2);
  t.equal((await httpGet(s, '/')).text, 'hello');
  await waitFor(() => serving(s).length === 2);
});

/** Ends the worker that serves since the shortest time, and waits until the master knows. */
async function killYoungest(s: Server, signal: 'SIGKILL' | 'SIGABRT', workers: number): Promise<void> {
  const pids = await waitFor(() => serving(s).length === workers && serving(s));
  const worker = Math.max(...pids);
  process.kill(worker, signal);
  await s.logged(new RegExp(`worker process ${worker} exited on signal`));
}

/** What the error log has right behind the end of each worker, once a line that was asked for afterwards is there. */
async function linesAfterEnds(s: Server): Promise<string[]> {
  const before = s.log().split('reopening logs').length;
  s.signal('USR1');
  await waitFor(() => s.log().split('reopening logs').length > before);
  const lines = s.log().split('\n');
  return lines.flatMap((line, i) => (line.includes('exited on signal') ? [lines[i + 1]!.replace(/^.*#\d+: | \d+$/g, '')] : []));
}

t.test('workers that somebody kills again and again are replaced at once', { skip: againstNginx }, async (t) => {
  const s = await startServer(t, { conf, expectAlerts });
  for (let i = 0; i < 6; i++) {
    await killYoungest(s, 'SIGKILL', 1);
  }
  t.strictSame(await linesAfterEnds(s), Array(6).fill('start worker process'));
  t.equal((await httpGet(s, '/')).text, 'hello');
});

t.test('a worker that fails again and again is replaced ever more slowly', { skip: againstNginx }, async (t) => {
  const s = await startServer(t, { conf: `worker_processes 2;\n${conf}`, expectAlerts });
  for (let i = 0; i < 7; i++) {
    await killYoungest(s, 'SIGABRT', 2);
  }
  t.not((await linesAfterEnds(s)).at(-1), 'start worker process');
  t.equal(serving(s).length, 1);
  t.equal((await httpGet(s, '/')).text, 'hello');
  // The end does not wait for it.
  const { pid } = s;
  await s.stop('QUIT');
  t.notOk(isAlive(pid));
});

t.test('a worker that fails again and again is replaced at once where nobody else serves', { skip: againstNginx }, async (t) => {
  const s = await startServer(t, { conf, expectAlerts });
  for (let i = 0; i < 6; i++) {
    await killYoungest(s, 'SIGABRT', 1);
  }
  t.strictSame(await linesAfterEnds(s), Array(6).fill('start worker process'));
});
