import { existsSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import t from 'tap';
import { isAlive, titleOf } from '../support/processes.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const ok = 'location /r { return 200 ok; } location / { }';
const large = { 'html/large': Buffer.alloc(20_000_000, 'x') };

t.test('QUIT lets transfers finish, TERM and INT do not', async (t) => {
  const startTransfer = async () => {
    const s = await startServer(t, { conf: serverConf(ok), files: large });
    const client = await RawClient.connect(s);
    client.send(requestText('GET', '/large'));
    await client.take(1000);
    client.pause();
    return { s, client };
  };
  const graceful = await startTransfer();
  const workers = graceful.s.workers();
  graceful.s.signal('QUIT');
  await waitFor(
    () =>
      httpGet(graceful.s, '/r').then(
        () => false,
        () => true,
      ),
    { what: 'the port to close' },
  );
  t.ok(workers.every(isAlive));
  graceful.client.resume();
  t.ok((await graceful.client.rest()).length > 19_000_000);
  await waitFor(() => !workers.some(isAlive), { what: 'the end of the workers' });

  for (const signal of ['TERM', 'INT'] as const) {
    const { s, client } = await startTransfer();
    await s.stop(signal);
    client.resume();
    await client.closed();
    t.ok(client.received.length < 19_000_000, signal);
  }
});

t.test('worker_shutdown_timeout', async (t) => {
  const s = await startServer(t, { conf: `worker_shutdown_timeout 100ms;\n${serverConf(ok)}`, files: large });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/large'));
  await client.take(1000);
  client.pause();
  await s.stop('QUIT');
  client.resume();
  await client.closed();
  t.ok(client.received.length < 19_000_000);
});

t.test('USR1 reopens logs', async (t) => {
  const s = await startServer(t, { conf: serverConf(ok) });
  await httpGet(s, '/r?before');
  renameSync(`${s.dir}/access.log`, `${s.dir}/access.log.1`);
  renameSync(`${s.dir}/error.log`, `${s.dir}/error.log.1`);
  s.signal('USR1');
  await waitFor(() => existsSync(`${s.dir}/access.log`) && existsSync(`${s.dir}/error.log`), { what: 'new logs' });
  await waitFor(async () => (await httpGet(s, '/r?after')) && /after/.test(s.accessLog()), { what: 'a line in the new log' });
  await httpGet(s, '/missing');
  await s.logged('/missing');
  t.match(s.read('access.log.1'), 'GET /r?before ');
  t.match(s.read('error.log.1') + s.log(), /signal 10 \(SIGUSR1\) received(?: from \d+)?, reopening logs/);
  if (process.getuid?.() === 0) {
    t.not(statSync(`${s.dir}/access.log`).uid, 0, "the workers' user owns it now");
  }

  renameSync(`${s.dir}/access.log`, `${s.dir}/access.log.2`);
  t.equal(
    (await runCli(['-p', `${s.dir}/`, '-c', 'sluice.conf', '-e', 'error.log', '-g', `pid ${s.dir}/server.pid;`, '-s', 'reopen'])).code,
    0,
  );
  await waitFor(() => existsSync(`${s.dir}/access.log`), { what: 'a new log' });
});

t.test('no line is lost while logs are reopened', async (t) => {
  const s = await startServer(t, { conf: `worker_processes 2;\n${serverConf(ok)}` });
  let sent = 0;
  let stop = false;
  const load = async () => {
    const client = await RawClient.connect(s);
    while (!stop) {
      await client.send(requestText('GET', `/r?${sent++}`)).response();
    }
    client.destroy();
  };
  const clients = [load(), load(), load()];
  for (let i = 0; i < 10; i++) {
    const before = sent;
    await waitFor(() => sent > before + 20);
    renameSync(`${s.dir}/access.log`, `${s.dir}/old-${i}.log`);
    s.signal('USR1');
    await waitFor(() => existsSync(`${s.dir}/access.log`), { what: 'a new log' });
  }
  stop = true;
  await Promise.all(clients);
  const lines = () =>
    readdirSync(s.dir)
      .filter((name) => /^(old-\d+|access)\.log$/.test(name))
      .flatMap((name) => readFileSync(`${s.dir}/${name}`, 'latin1').split('\n').slice(0, -1));
  await waitFor(() => lines().length === sent, { what: () => `${sent} lines; there are ${lines().length}` });
  t.ok(
    lines().every((line) => /^127\.0\.0\.1 - - \[[^\]]+\] "GET \/r\?\d+ HTTP\/1\.1" 200 2 "-" "-"$/.test(line)),
    'none is torn',
  );
});

t.test('a worker that dies is replaced', async (t) => {
  const s = await startServer(t, { conf: serverConf(ok), expectAlerts: /exited on signal/ });
  const [first] = s.workers();
  process.kill(first!, 'SIGKILL');
  await s.logged(new RegExp(`\\[alert\\] \\d+#\\d+: worker process ${first} exited on signal 9`));
  t.equal((await httpGet(s, '/r')).text, 'ok');
  t.not(s.workers()[0], first);
});

t.test('signals to a worker', async (t) => {
  const s = await startServer(t, { conf: serverConf(ok), expectAlerts: /exited/ });
  const [first] = s.workers();
  t.equal((await httpGet(s, '/r')).text, 'ok');
  process.kill(first!, 'SIGQUIT');
  await s.logged(new RegExp(`worker process ${first} exited with code 0`));
  t.notOk(isAlive(first!));
  t.ok(isAlive(s.pid));
});

t.test('WINCH ends the workers and HUP brings them back', async (t) => {
  const s = await startServer(t, { conf: `daemon on;\n${serverConf(ok)}` });
  await httpGet(s, '/r');
  s.signal('WINCH');
  await waitFor(() => s.workers().length === 0, { what: 'the end of the workers' });
  t.ok(isAlive(s.pid));
  s.signal('HUP');
  t.equal((await httpGet(s, '/r')).text, 'ok');
});

t.test('USR2 upgrades the executable', async (t) => {
  const s = await startServer(t, { conf: `daemon on;\n${serverConf(ok)}` });
  const old = s.pid;
  let stop = false;
  let answered = 0;
  const failures: unknown[] = [];
  const load = async () => {
    while (!stop) {
      await httpGet(s, '/r').then(
        () => answered++,
        (error) => failures.push(error),
      );
    }
  };
  const clients = [load(), load()];
  t.teardown(() => (stop = true));
  s.signal('USR2');
  await waitFor(() => existsSync(`${s.dir}/server.pid.oldbin`) && s.read('server.pid') !== '' && s.pid !== old, {
    what: 'the new master',
  });
  t.equal(Number(s.read('server.pid.oldbin')), old);
  t.match(titleOf(s.pid), 'master process');
  await waitFor(() => s.workers().length > 0, { what: 'new workers' });
  process.kill(old, 'SIGQUIT');
  await waitFor(() => !isAlive(old), { what: 'the end of the old master' });
  const before = answered;
  await waitFor(() => answered > before + 5);
  stop = true;
  await Promise.all(clients);
  t.strictSame(failures, []);
  t.notOk(existsSync(`${s.dir}/server.pid.oldbin`));
});
