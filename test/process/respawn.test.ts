import t from 'tap';
import { againstNginx, product } from '../support/binary.js';
import { isAlive, titleOf } from '../support/processes.js';
import { httpGet } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const conf = serverConf('location / { return 200 hello; }');
const expectAlerts = /exited on signal 9/;
const serving = (s: Server) => s.workers().filter((pid) => titleOf(pid) === `${product}: worker process`);

t.test('connections wait while all workers are being replaced', async (t) => {
  const s = await startServer(t, { conf: `worker_processes 2;\n${conf}`, expectAlerts });
  for (const pid of s.workers()) process.kill(pid, 'SIGKILL');
  await waitFor(() => s.log().match(/exited on signal 9/g)?.length === 2);
  t.equal((await httpGet(s, '/')).text, 'hello');
  await waitFor(() => serving(s).length === 2);
});

t.test('workers that die again and again are replaced ever more slowly', { skip: againstNginx }, async (t) => {
  const s = await startServer(t, { conf, expectAlerts });
  const kills: number[] = [];
  for (let i = 0; i < 4; i++) {
    const [worker = 0] = await waitFor(() => serving(s).length > 0 && serving(s));
    kills.push(Date.now());
    process.kill(worker, 'SIGKILL');
    await waitFor(() => !isAlive(worker));
  }
  t.ok(kills[3]! - kills[2]! >= 200, 'the third replacement waits');
  t.equal((await httpGet(s, '/')).text, 'hello');
});

t.test('the end does not wait for a replacement that waits', { skip: againstNginx }, async (t) => {
  const s = await startServer(t, { conf, expectAlerts });
  for (let i = 0; i < 3; i++) {
    const [worker = 0] = await waitFor(() => serving(s).length > 0 && serving(s));
    process.kill(worker, 'SIGKILL');
    await waitFor(() => !isAlive(worker));
  }
  const { pid } = s;
  await s.stop('QUIT');
  t.notOk(isAlive(pid));
});
