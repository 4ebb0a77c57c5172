// Bytes behind a request that is not answered yet: they wait in the kernel, and are requests like others once it is.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { startOrigin } from '../support/origin.js';
import { http, RawClient, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const CLIENTS = 200;
const BEHIND = 200_000;
/**
 * What a client's bytes and its request may take, KB: half of what it sends. The kernel's part is not counted, V8's growth until it
 * collects is: some 30 KB a client.
 */
const SHARE = 100;

t.test('bytes behind a request at a backend that hangs', async (t) => {
  let release = (): void => {};
  const answered = new Promise<void>((done) => (release = done));
  const origin = await startOrigin(t, async ({ target }) => {
    if (target === '/hung') {
      await answered;
    }
    return { body: target };
  });
  const server = await startServer(t, {
    conf: serverConf(`location / { proxy_pass http://127.0.0.1:${origin.port}; } location /quick { return 200 quick; }`),
  });
  const memory = (): number => {
    const [worker] = server.workers();
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${worker}/status`, 'latin1'))![1]);
  };
  await http(server, requestText('GET', '/first', { Connection: 'close' }));
  const before = memory();
  const clients: RawClient[] = [];
  t.teardown(() => clients.forEach((client) => void client.destroy()));
  const next = requestText('GET', '/quick', { 'X-Long': 'x'.repeat(1000) });
  const many = Math.ceil(BEHIND / next.length);
  for (let i = 0; i < CLIENTS; i++) {
    const client = await RawClient.connect(server);
    clients.push(client.send(requestText('GET', '/hung')).send(next.repeat(many)));
  }
  await origin.received(CLIENTS + 1);
  // What they sent is read before the next request is.
  for (let i = 0; i < 3; i++) {
    await http(server, requestText('GET', '/quick', { Connection: 'close' }));
  }
  const share = (memory() - before) / CLIENTS;
  t.ok(share < SHARE, `${share} KB a connection`);

  // A worker that still answers all of them when it is told to end is killed after a second.
  const [client, ...others] = clients as [RawClient, ...RawClient[]];
  for (const each of others) {
    each.destroy();
  }
  release();
  t.equal((await client.response()).text, '/hung');
  const texts = await waitFor(() => client.received.split('quick').length > many && client.received.split('quick'));
  t.equal(texts.length, many + 1, 'all that came behind it is answered');
});
