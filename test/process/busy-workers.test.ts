import t, { type Test } from 'tap';
import { isAlive, isStopped } from '../support/processes.js';
import { httpGet } from '../support/raw-client.js';
import { type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const conf = (workers: number) => `worker_processes ${workers};
  worker_shutdown_timeout 1s;
  events {}
  http {
    server { listen 127.0.0.1:%%PORT_0%%; location / { return 200 $pid; } }
  }
  stream {
    server { listen 127.0.0.1:%%PORT_1%%; return "HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\nConnection: close\\r\\n\\r\\ns"; }
  }`;

async function stop(t: Test, pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  t.teardown(() => isAlive(pid) && process.kill(pid, 'SIGCONT'));
  await waitFor(() => isStopped(pid), { what: 'the worker to stop' });
}

/** Each client waits for its answer before the next one comes: nobody wakes another worker on its behalf. */
async function serveOneAfterAnother(s: Server): Promise<void> {
  for (let i = 0; i < 6; i++) {
    for (const port of [0, 1]) {
      t.equal((await httpGet(s.port(port), '/')).status, 200);
    }
  }
}

t.test('no client waits for a worker that does not come to accept', async (t) => {
  const s = await startServer(t, { conf: conf(3) });
  const workers = s.workers();
  // Whoever's turn it is, it comes to the stopped ones.
  for (const awake of workers) {
    const stopped = workers.filter((pid) => pid !== awake);
    for (const pid of stopped) {
      await stop(t, pid);
    }
    await serveOneAfterAnother(s);
    for (const pid of stopped) {
      process.kill(pid, 'SIGCONT');
    }
  }
});

t.test('nor for one of before a reload', async (t) => {
  const s = await startServer(t, { conf: conf(1) });
  const [before] = s.workers();
  // A worker that is stopped while it starts says so later.
  await s.logged('using the ');
  await stop(t, before!);
  s.signal('HUP');
  await waitFor(() => s.log().split('using the ').length > 2, { what: 'a new worker' });
  await serveOneAfterAnother(s);
  process.kill(before!, 'SIGCONT');
  await waitFor(() => !s.workers().includes(before!), { what: 'the end of the worker of before' });
});
