// More clients than descriptors: those beyond the limit wait in the backlog, and none is closed.
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startOrigin } from '../support/origin.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

const LIMIT = 80;
const CLIENTS = 120;

t.test('clients beyond the limit of descriptors', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% proxy_protocol; listen unix:%%DIR%%/socket; return 200 answer; }`,
      `worker_rlimit_nofile ${LIMIT};`,
    ),
  });
  for (const [target, first] of [
    [s.port(0), ''],
    [s.port(1), 'PROXY UNKNOWN\r\n'],
    [`${s.dir}/socket`, ''],
  ] as const) {
    const clients: RawClient[] = [];
    t.teardown(() => clients.forEach((client) => void client.destroy()));
    for (let i = 0; i < CLIENTS; i++) {
      clients.push((await RawClient.connect(target)).send(first + requestText('GET', '/'), 'GET'));
    }
    await s.logged('failed (24: Too many open files)');
    const texts: string[] = [];
    for (const client of clients) {
      texts.push((await client.response()).text);
      client.destroy();
    }
    t.strictSame(texts, Array(CLIENTS).fill('answer'), `${target}`);
  }
});

t.test('connections to backends take the last descriptors', async (t) => {
  const backend = await startOrigin(t, async () => {
    await sleep(200);
    return { body: 'answer' };
  });
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; location / { proxy_pass http://127.0.0.1:${backend.port}; } }`,
      `worker_rlimit_nofile ${LIMIT};`,
    ),
    expectAlerts: /socket\(\) failed \(24: Too many open files\)/,
  });
  const answers = await Promise.all(Array.from({ length: CLIENTS }, () => httpGet(s, '/').catch(() => undefined)));
  const statuses = answers.map((answer) => answer?.status);
  t.ok(statuses.includes(500), 'nobody is there to ask');
  await s.logged('socket() failed (24: Too many open files) while connecting to upstream');
  await s.logged('[crit]');
  await s.logged('accept4() failed (24: Too many open files)');
  if (!s.log().includes('using the "libuv"')) {
    // libuv closes those that it has no descriptors for.
    t.notOk(
      statuses.some((status) => status !== 200 && status !== 500),
      'each is answered',
    );
  }
  t.equal((await httpGet(s, '/')).text, 'answer');
});
