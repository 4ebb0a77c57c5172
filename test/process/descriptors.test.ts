// More clients than descriptors: those beyond the limit wait in the backlog, and none is closed.
import t from 'tap';
import { RawClient, requestText } from '../support/raw-client.js';
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
