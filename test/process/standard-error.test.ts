import { existsSync, readlinkSync, renameSync } from 'node:fs';
import t from 'tap';
import { httpGet } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const conf = `daemon on;\n${serverConf('location / { return 200 ok; }')}`;
const skip = !existsSync('/proc/self/fd') && 'no /proc';

/** Where descriptor 2 of the server's processes leads. */
function standardErrors(s: Server): string[] {
  try {
    return [s.pid, ...s.workers()].map((pid) => readlinkSync(`/proc/${pid}/fd/2`).replace(`${s.dir}/`, ''));
  } catch {
    // One of them has just ended.
    return [];
  }
}

function follow(s: Server, processes: number): Promise<unknown> {
  return waitFor(
    () => {
      const leads = standardErrors(s);
      return leads.length === processes && leads.every((path) => path === 'error.log');
    },
    { what: () => `the log at descriptor 2: ${standardErrors(s)}\n${s.log()}` },
  );
}

t.test('standard error of a daemon follows the error log', { skip }, async (t) => {
  const s = await startServer(t, { conf: `worker_processes 2;\n${conf}`, expectAlerts: /exited on signal 9/ });
  await follow(s, 3);
  renameSync(`${s.dir}/error.log`, `${s.dir}/error.log.1`);
  s.signal('USR1');
  await follow(s, 3);

  renameSync(`${s.dir}/error.log`, `${s.dir}/error.log.2`);
  s.signal('HUP');
  await follow(s, 3);

  // A worker that starts between the two halves of a rotation.
  renameSync(`${s.dir}/error.log`, `${s.dir}/error.log.3`);
  process.kill(s.workers()[0]!, 'SIGKILL');
  s.signal('USR1');
  await follow(s, 3);
  t.equal((await httpGet(s, '/')).text, 'ok');
});

t.test('what Node itself prints lands in the error log, after a rotation in the new one', { skip }, async (t) => {
  const script = `export default { print: (r) => { process._rawDebug('printed by the process'); r.return(200, ''); } };`;
  const print = serverConf('location / { js_content main.print; }', 'js_import main from print.mjs;');
  const s = await startServer(t, { conf: `daemon on;\n${print}`, files: { 'print.mjs': script } });
  for (const rotated of ['error.log.1', 'error.log.2']) {
    await follow(s, 2);
    t.equal((await httpGet(s, '/')).status, 200);
    t.match(s.log(), 'printed by the process\n');
    renameSync(`${s.dir}/error.log`, `${s.dir}/${rotated}`);
    s.signal('USR1');
  }
});

t.test('in a single process, too', { skip }, async (t) => {
  const s = await startServer(t, { conf: `master_process off;\n${conf}` });
  await follow(s, 1);
  renameSync(`${s.dir}/error.log`, `${s.dir}/error.log.1`);
  s.signal('USR1');
  await follow(s, 1);
  renameSync(`${s.dir}/error.log`, `${s.dir}/error.log.2`);
  s.signal('HUP');
  await follow(s, 1);
  t.equal((await httpGet(s, '/')).text, 'ok');
});
