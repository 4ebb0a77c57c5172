import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { isAlive } from '../support/processes.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const answer = (text: string) => serverConf(`location / { return 200 "${text}"; }`);

t.test('a new configuration takes over', async (t) => {
  const s = await startServer(t, { conf: answer('one') });
  const master = s.pid;
  const old = s.workers();
  t.equal((await httpGet(s, '/')).text, 'one');
  await s.reload(answer('two'));
  t.equal((await httpGet(s, '/')).text, 'two');
  t.equal(s.pid, master);
  await waitFor(() => !old.some(isAlive), { what: 'the end of the old workers' });
  t.equal(
    s.workers().some((pid) => old.includes(pid)),
    false,
  );
  t.match(s.log(), /\[notice\] \d+#\d+: signal 1 \(SIGHUP\) received(?: from \d+)?, reconfiguring\n/);
  t.match(s.log(), /\[notice\] \d+#\d+: gracefully shutting down\n/);
});

t.test('a faulty configuration changes nothing', async (t) => {
  const s = await startServer(t, { conf: answer('one') });
  const old = s.workers();
  await t.rejects(s.reload('events { } http { nonsense; }'), /\[emerg\] \d+#\d+: unknown directive "nonsense" in \S+sluice\.conf:1/);
  await t.rejects(
    s.reload('events { } http { access_log %%DIR%%/no/folder/log; }'),
    /\[emerg\] .*no\/folder\/log" failed \(2: No such file or directory\)/,
  );
  t.equal((await httpGet(s, '/')).text, 'one');
  t.strictSame(s.workers(), old);
  await s.reload(answer('three'));
  t.equal((await httpGet(s, '/')).text, 'three');
});

t.test('listeners come and go', async (t) => {
  const listen = (...ports: number[]) =>
    httpConf(ports.map((n) => `server { listen 127.0.0.1:%%PORT_${n}%%; location / { return 200 "${n}"; } }`).join('\n'));
  const s = await startServer(t, { conf: listen(0, 1) });
  await s.reload(listen(1, 2));
  t.equal((await httpGet(s.port(1), '/')).text, '1');
  t.equal((await httpGet(s.port(2), '/')).text, '2');
  await waitFor(
    () =>
      httpGet(s.port(0), '/').then(
        () => false,
        (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
      ),
    { what: 'the old port to close' },
  );
  await s.reload(listen(0, 1));
  t.equal((await httpGet(s.port(0), '/')).text, '0');
});

t.test('a port in use keeps the old configuration', async (t) => {
  const s = await startServer(t, { conf: answer('one') });
  const holder = createServer();
  await new Promise<void>((done) => holder.listen(0, '127.0.0.1', done));
  t.teardown(() => holder.close());
  const address = holder.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const taken = httpConf(`server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:${port}; location / { return 200 two; } }`);
  await t.rejects(
    s.reload(taken),
    new RegExp(`\\[emerg\\] .*bind\\(\\) to 127\\.0\\.0\\.1:${port} failed \\(98: Address already in use\\)`),
  );
  t.equal((await httpGet(s, '/')).text, 'one');
});

t.test('requests in progress are finished by the old workers', async (t) => {
  const s = await startServer(t, { conf: answer('one'), files: { 'html/large': Buffer.alloc(20_000_000, 'x') } });
  await s.reload(serverConf(''));
  const transfer = await RawClient.connect(s);
  transfer.send(requestText('GET', '/large', { Connection: 'close' }));
  await transfer.take(1000);
  transfer.pause();
  const half = await RawClient.connect(s);
  half.send('GET / HTTP/1.1\r\nHost: a\r\n');
  await httpGet(s, '/');
  await s.reload(answer('two'));
  t.equal((await httpGet(s, '/')).text, 'two');
  transfer.resume();
  t.ok((await transfer.rest()).length > 19_000_000);
  t.equal((await half.send('Connection: keep-alive\r\n\r\n', 'GET').response()).header('Connection'), 'close');
  half.destroy();
});

t.test('no request is lost over many reloads', async (t) => {
  // nginx closes idle connections at once; the grace that keeps them is sluice's. Here it is longer than a machine ever keeps a client
  // waiting for its turn, so that a request on its way always finds its connection open.
  const keepAlive = !againstNginx;
  const grace = keepAlive ? 'keepalive_min_timeout 60s;' : '';
  const version = (n: number): string => `worker_processes 2;\n${serverConf(`${grace} location / { return 200 "${n}"; }`)}`;
  const s = await startServer(t, { conf: version(0) });
  let stop = false;
  let answered = 0;
  const failures: string[] = [];
  const load = async (keep: boolean): Promise<void> => {
    let client: RawClient | undefined;
    while (!stop) {
      const request = client === undefined ? 'first request' : 'later request';
      try {
        client ??= await RawClient.connect(s);
        const response = await client.send(requestText('GET', '/', keep ? {} : { Connection: 'close' })).response();
        if (response.status === 200) {
          answered++;
        } else {
          failures.push(`${request}: ${response.status}`);
        }
        if (response.header('Connection') === 'close') {
          client.destroy();
          client = undefined;
        }
      } catch (error) {
        failures.push(`${request}: ${error}`);
        client = undefined;
      }
    }
    client?.destroy();
  };
  const clients = [load(false), load(false), load(keepAlive), load(keepAlive)];
  for (let i = 1; i <= 8; i++) {
    await s.reload(version(i));
  }
  t.equal((await httpGet(s, '/')).text, '8');
  stop = true;
  await Promise.all(clients);
  t.strictSame(failures, []);
  t.ok(answered > 20, `${answered} answers`);
});

t.test('a second HUP during a reload is not lost', async (t) => {
  const s = await startServer(t, { conf: answer('one') });
  await s.configure(answer('two'));
  s.signal('HUP');
  await s.configure(answer('three'));
  s.signal('HUP');
  await waitFor(async () => (await httpGet(s, '/')).text === 'three', { what: 'the last configuration' });
});

t.test('the end is not held up by a reload that waits for a port', async (t) => {
  const s = await startServer(t, { conf: answer('one') });
  const holder = createServer();
  await new Promise<void>((done) => holder.listen(0, '127.0.0.1', done));
  t.teardown(() => holder.close());
  const { port } = holder.address() as AddressInfo;
  await s.configure(httpConf(`server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:${port}; }`));
  s.signal('HUP');
  await s.logged('try again to bind()');
  await new Promise((done) => holder.close(done));
  const { pid } = s;
  await s.stop('TERM');
  t.notOk(isAlive(pid));
  if (!againstNginx) {
    t.equal(s.log().match(/start worker processes/g)?.length, 1, 'no workers for a configuration that comes too late');
  }
});
