import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { runCli, testConfig } from '../support/run-cli.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx has no such directive');
}

/** A server that answers so, on the ports 0 and `more`. */
function conf(answer: string, canary = '', more = '', main = 'worker_processes 2;'): string {
  return httpConf(
    `access_log off; server { listen 127.0.0.1:%%PORT_0%%; ${more} location / { return ${answer}; } }`,
    `pid %%DIR%%/server.pid;\n${main}\n${canary === '' ? '' : `reload_canary ${canary};`}`,
  );
}

/** Sends requests one after the other, on a connection each, until told to stop; counts the answers by their bodies. */
function load(server: Server): { readonly answers: Map<string, number>; stop(): Promise<void> } {
  const answers = new Map<string, number>();
  let going = true;
  const client = async (): Promise<void> => {
    while (going) {
      const { status, body } = await httpGet(server, '/');
      const answer = `${status} ${status === 200 ? body.toString() : ''}`.trim();
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  const clients = [client(), client(), client()];
  return {
    answers,
    async stop() {
      going = false;
      await Promise.all(clients);
    },
  };
}

const total = (answers: ReadonlyMap<string, number>): number => [...answers.values()].reduce((sum, n) => sum + n, 0);
const status = async (server: Server): Promise<string> => (await runCli(['status', '-p', `${server.dir}/`, '-c', 'sluice.conf'])).stdout;

t.test('a configuration that answers with 500 does not come into force', async (t) => {
  const server = await startServer(t, { conf: conf('200 old', '', '', 'worker_processes 1;') });
  const clients = load(server);
  const before = server.workers();
  await server.configure(conf('500', '25% 600s', 'listen 127.0.0.1:%%PORT_1%%;'));
  server.signal('HUP');
  const failed = await server.logged(/\[error\].*the canary failed: /);
  await clients.stop();
  t.match(
    failed,
    /it answered (\d+) of \1 requests \(100\.00%\) with 5xx, the old workers 0 of \d+ requests \(0\.00%\); the old configuration stays/,
  );
  await waitFor(() => server.workers().length === 1, { what: 'the end of the canary' });
  t.strictSame(server.workers(), before);
  t.equal((await httpGet(server, '/')).body.toString(), 'old');
  await t.rejects(RawClient.connect(server.port(1)), 'a new address is not listened on');
  t.match(await status(server), /the reload of .* was refused: the canary failed: it answered/);
  const share = (clients.answers.get('500') ?? 0) / total(clients.answers);
  t.ok(share > 0 && share < 0.4, `the canary had ${(share * 100).toFixed(1)} % of the connections`);
  await server.configure(conf('200 new', '', 'listen 127.0.0.1:%%PORT_1%%;'));
  await server.reload();
  t.equal((await httpGet(server.port(1), '/')).body.toString(), 'new', 'the next reload is as usual');
});

t.test('a good one comes into force, with its new addresses and all its workers', async (t) => {
  const server = await startServer(t, { conf: conf('200 old') });
  const clients = load(server);
  const before = server.workers();
  await server.configure(conf('200 new', '10% 500ms', 'listen 127.0.0.1:%%PORT_1%%;', 'worker_processes 3;'));
  server.signal('HUP');
  await server.logged(/the canary, worker process \d+, takes 10% of new connections for 0.5s/);
  const passed = await server.logged(/\[notice\].*the canary passed: /);
  t.match(passed, /passed: \d+ requests, 0 of them 5xx, p95 [\d.]+ ms; the old workers: \d+ requests, 0 of them 5xx, p95 [\d.]+ ms/);
  await waitFor(() => server.workers().every((pid) => !before.includes(pid)), { what: 'the end of the old workers' });
  await clients.stop();
  t.equal(server.workers().length, 3);
  t.equal((await httpGet(server.port(1), '/')).body.toString(), 'new');
  t.equal((await httpGet(server, '/')).body.toString(), 'new');
  t.match(await status(server), /the reload of .* went through: the canary passed/);
  t.strictSame([...clients.answers.keys()].sort(), ['200 new', '200 old'], 'no request was lost');
});

t.test('another reload, and the end of the server, do not wait for it', async (t) => {
  const server = await startServer(t, { conf: conf('200 one') });
  await server.configure(conf('200 two', '10% 600s'));
  server.signal('HUP');
  await server.logged(/takes 10% of new connections/);
  t.match(await status(server), /the reload of .* is under way: the canary, worker process \d+, takes 10%/);
  await server.configure(conf('200 three'));
  server.signal('HUP');
  await server.logged(/the canary is given up: another reload was asked for/);
  await waitFor(async () => (await httpGet(server, '/')).body.toString() === 'three');
  await waitFor(() => server.workers().length === 2);
  await server.configure(conf('200 four', '10% 600s'));
  server.signal('HUP');
  await waitFor(() => (server.log().match(/takes 10% of new connections/g) ?? []).length === 2);
  // A log file that is moved away meanwhile is followed.
  server.signal('USR1');
  await waitFor(() => (server.log().match(/reopening logs/g) ?? []).length >= 4);
  await server.stop('QUIT');
  t.match(server.log(), /the canary is given up|exit$/m);
});

t.test('workers that die: the old one is replaced by one with the old configuration, the canary by none', async (t) => {
  const server = await startServer(t, { conf: conf('200 old'), expectAlerts: /exited on signal 9/ });
  const idle = await RawClient.connect(server.port(0));
  t.equal((await idle.send(requestText('GET', '/')).response()).body.toString(), 'old');
  const [first, second] = server.workers();
  await server.configure(conf('200 new', '25% 600s'));
  server.signal('HUP');
  const line = await server.logged(/the canary, worker process \d+/);
  process.kill(first!, 'SIGKILL');
  await waitFor(() => !server.workers().includes(first!) && server.workers().length === 3);
  const clients = load(server);
  await waitFor(() => (clients.answers.get('200 new') ?? 0) > 1 && total(clients.answers) > 50);
  await clients.stop();
  t.ok((clients.answers.get('200 old') ?? 0) > (clients.answers.get('200 new') ?? 0));
  process.kill(Number(/worker process (\d+)/.exec(line)![1]), 'SIGKILL');
  await server.logged(/\[error\].*the canary failed: it was ended by signal 9; the old configuration stays/);
  await waitFor(() => server.workers().length === 2);
  t.ok(server.workers().includes(second!));
  t.equal((await httpGet(server, '/')).body.toString(), 'old');
  idle.destroy();
});

t.test('the canary of a killed master ends; the old workers serve on', async (t) => {
  const server = await startServer(t, { conf: conf('200 old') });
  const before = server.workers();
  await server.configure(conf('200 new', '10% 600s'));
  server.signal('HUP');
  const line = await server.logged(/the canary, worker process \d+/);
  const canary = Number(/worker process (\d+)/.exec(line)![1]);
  server.signal('KILL');
  await waitFor(() => !isAlive(canary));
  t.ok(before.every(isAlive));
  t.equal((await httpGet(server, '/')).body.toString(), 'old');
});

t.test('where there is nothing to compare, all workers start at once', async (t) => {
  const server = await startServer(t, { conf: conf('200 old') });
  await server.configure(
    httpConf('server { listen 127.0.0.1:%%PORT_2%%; return 200 other; }', 'pid %%DIR%%/server.pid;\nreload_canary 10% 600s;'),
  );
  server.signal('HUP');
  await server.logged(/there is nothing to compare a canary with/);
  await waitFor(async () => (await httpGet(server.port(2), '/').catch(() => undefined))?.body.toString() === 'other');
});

t.test('its arguments', async (t) => {
  const main = (line: string) => `${line}\nevents {}\n`;
  for (const [line, message] of [
    ['reload_canary 51% 30s;', 'invalid share "51%"'],
    ['reload_canary 10% x;', 'invalid time "x" in "reload_canary" directive'],
  ] as const) {
    const { code, stderr } = await testConfig(t, main(line));
    t.equal(code, 1);
    t.match(stderr, message);
  }
  const alone = await testConfig(t, main('reload_canary 2.5% 1m; master_process off;'));
  t.equal(alone.code, 0);
  t.match(alone.stderr, '[warn] ');
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
