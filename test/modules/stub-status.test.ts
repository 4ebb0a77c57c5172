import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { killWorkers } from '../support/processes.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const STATUS =
  /^Active connections: (\d+) \nserver accepts handled requests\n (\d+) (\d+) (\d+) \nReading: (\d+) Writing: (\d+) Waiting: (\d+) \n$/;

interface Numbers {
  readonly active: number;
  readonly accepts: number;
  readonly handled: number;
  readonly requests: number;
  readonly reading: number;
  readonly writing: number;
  readonly waiting: number;
}

/** Reads the page on a connection of its own, which counts too. */
async function status(server: Server): Promise<Numbers> {
  const { text } = await httpGet(server, '/status');
  const [active, accepts, handled, requests, reading, writing, waiting] = STATUS.exec(text)!.slice(1).map(Number);
  return { active, accepts, handled, requests, reading, writing, waiting } as Numbers;
}

t.test('the page', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location = /status { stub_status; }
      location = /on { stub_status on; }
      location = /vars { return 200 "$connections_active $connections_reading $connections_writing $connections_waiting"; }`),
  });
  const page = await httpGet(s, '/status');
  t.match(page.text, STATUS);
  t.strictSame([page.status, page.header('Content-Type'), page.header('Content-Length')], [200, 'text/plain', String(page.text.length)]);
  t.match((await httpGet(s, '/on')).text, STATUS);
  const head = await http(s, requestText('HEAD', '/status', { Connection: 'close' }));
  t.strictSame([head.status, head.text], [200, '']);
  t.equal((await http(s, requestText('POST', '/status', { Connection: 'close' }, 'x'))).status, 405);
  t.equal((await httpGet(s, '/vars')).text, '1 0 1 0');
});

for (const workers of [1, 4]) {
  t.test(`exact numbers with ${workers} worker processes`, async (t) => {
    const s = await startServer(t, {
      conf: `worker_processes ${workers};\n${serverConf('location = /status { stub_status; } location / { return 200 ok; }')}`,
      expectAlerts: /exited on signal 9/,
    });
    t.match(await status(s), { active: 1, accepts: 1, handled: 1, requests: 1, reading: 0, writing: 1, waiting: 0 });
    const idle = await Promise.all(Array.from({ length: 8 }, () => RawClient.connect(s)));
    for (const client of idle) {
      await client.send(requestText('GET', '/')).response();
      await client.send(requestText('GET', '/')).response();
    }
    t.match(
      await status(s),
      { active: 9, accepts: 10, handled: 10, requests: 18, reading: 0, writing: 1, waiting: 8 },
      'idle clients wait',
    );
    const reading = await RawClient.connect(s);
    reading.send('GET / HTTP/1.1\r\n');
    await waitFor(async () => (await status(s)).reading === 1);
    const busy = await status(s);
    t.equal(busy.active, busy.reading + busy.writing + busy.waiting);
    reading.destroy();
    for (const client of idle) {
      client.destroy();
    }
    await waitFor(async () => (await status(s)).active === 1);

    const before = await status(s);
    await Promise.all(Array.from({ length: 40 }, () => httpGet(s, '/')));
    await waitFor(async () => (await status(s)).active === 1);
    const after = await status(s);
    t.ok(after.requests - before.requests >= 41);
    t.equal(after.accepts - before.accepts, after.requests - before.requests, 'one connection a request');
    t.equal(after.accepts, after.handled);

    await s.reload();
    await waitFor(() => s.workers().length === workers);
    t.match(await status(s), { accepts: after.accepts + 1, requests: after.requests + 1, active: 1 }, 'a reload keeps the numbers');

    if (againstNginx) {
      return;
    }
    const held = await Promise.all(Array.from({ length: 6 }, () => RawClient.connect(s)));
    for (const client of held) {
      await client.send(requestText('GET', '/')).response();
    }
    const full = await status(s);
    t.equal(full.active, 7);
    const old = s.workers();
    await killWorkers(old);
    await waitFor(() => s.workers().length === workers);
    t.match(
      await status(s),
      { accepts: full.accepts + 1, requests: full.requests + 1, active: 1, waiting: 0 },
      'killed workers leave their totals',
    );
    for (const client of held) {
      client.destroy();
    }
  });
}

t.test('the variables are exact with several workers', async (t) => {
  const s = await startServer(t, {
    conf: `worker_processes 4;\n${serverConf('location / { add_header X-Pid $pid; return 200 "$connections_active $connections_reading $connections_writing $connections_waiting"; }')}`,
  });
  const seen = new Set<string>();
  for (let i = 0; i < 120; i++) {
    const response = await httpGet(s, '/');
    seen.add(response.text);
  }
  t.strictSame([...seen], ['1 0 1 0'], 'one request after the other');
  const idle = await Promise.all(Array.from({ length: 6 }, () => RawClient.connect(s)));
  for (const client of idle) {
    await client.send(requestText('GET', '/')).response();
  }
  // An answer may be read before its connection waits for the next request.
  await waitFor(async () => (await httpGet(s, '/')).text === '7 0 1 6', { what: 'six that wait' });
  for (const client of idle) {
    client.destroy();
  }
});
