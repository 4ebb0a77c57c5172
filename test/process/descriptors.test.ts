// More clients than descriptors: those beyond the limit wait in the backlog, and none is closed.
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
  let release = () => {};
  const released = new Promise<void>((done) => {
    release = done;
  });
  const backend = await startOrigin(t, async () => {
    await released;
    return { body: 'answer' };
  });
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; location / { proxy_pass http://127.0.0.1:${backend.port}; } }`,
      `worker_rlimit_nofile ${LIMIT};`,
    ),
    expectAlerts: /socket\(\) failed \(24: Too many open files\)/,
  });
  const clients: RawClient[] = [];
  t.teardown(() => clients.forEach((client) => void client.destroy()));
  for (let i = 0; i < CLIENTS; i++) {
    clients.push(await RawClient.connect(s.port(0)));
  }
  // The clients that were accepted leave fewer descriptors than they will want for backends, and the backend keeps its own.
  await s.logged('[crit]');
  await s.logged('accept4() failed (24: Too many open files)');
  for (const client of clients) {
    client.send(requestText('GET', '/'), 'GET');
  }
  await s.logged('socket() failed (24: Too many open files) while connecting to upstream');
  release();
  const statuses: (number | undefined)[] = [];
  for (const client of clients) {
    statuses.push((await client.response().catch(() => undefined))?.status);
    client.destroy();
  }
  t.ok(statuses.includes(500), 'nobody is there to ask');
  t.ok(statuses.includes(200), 'others had a descriptor');
  if (!s.log().includes('using the "libuv"')) {
    // libuv closes those that it has no descriptors for.
    t.notOk(
      statuses.some((status) => status !== 200 && status !== 500),
      'each is answered',
    );
  }
  t.equal((await httpGet(s, '/')).text, 'answer');
});
