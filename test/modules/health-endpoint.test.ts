import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet, RawClient } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('the directive is ours');
}

const endpoints = `server {
  listen 127.0.0.1:%%PORT_0%%;
  location = /livez { health_endpoint live; }
  location = /readyz { health_endpoint ready; }
  location = /closed { deny all; health_endpoint ready; }
}`;

for (const [what, main] of [
  ['two workers', 'worker_processes 2;'],
  ['one process', 'master_process off;'],
] as const) {
  t.test(`${what}: live, ready, and no longer ready once the server ends`, async (t) => {
    const server = await startServer(t, { conf: httpConf(endpoints, `${main} `) });
    await waitFor(async () => (await httpGet(server, '/readyz')).status === 200);
    const ready = await httpGet(server, '/readyz');
    t.same([ready.text, ready.header('content-type'), ready.header('content-length')], ['ready\n', 'text/plain', '6']);
    t.match(await httpGet(server, '/livez'), { status: 200, text: 'live\n' });
    t.equal((await httpGet(server, '/closed')).status, 403, 'access rules hold');
    // A request that has begun keeps its connection open while the server ends.
    const begun = await RawClient.connect(server);
    begun.send('POST /readyz HTTP/1.1\r\nHost: a\r\n\r\nGET /readyz HTTP/1.1\r\nHost: a\r\n');
    t.match(await begun.response(), { status: 405 });
    server.signal('QUIT');
    await waitFor(() => /shutting down/.test(server.log()));
    await waitFor(async () => (await httpGet(server, '/livez').catch(() => undefined)) === undefined);
    begun.send('\r\n');
    t.match(await begun.response(), { status: 503, text: 'ending\n' });
  });
}
