import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { makePrefix } from '../support/prefix.js';
import { RawClient } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

t.test('a backend that does not read keeps a client that sends little at a time from sending more', async (t) => {
  const { dir } = await makePrefix(t);
  // The kernel keeps far less for a Unix-domain socket than for one of TCP.
  const backend = createServer((socket) => socket.pause().on('error', () => {})).listen(`${dir}/backend`);
  t.teardown(() => backend.close());
  await once(backend, 'listening');
  const s = await startServer(t, {
    conf: serverConf(`
      listen unix:%%DIR%%/front; client_max_body_size 0; proxy_request_buffering off;
      location / { proxy_pass http://unix:${dir}/backend; }`),
    asRoot: true,
  });
  const client = await RawClient.connect(`${s.dir}/front`);
  client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n');
  const piece = Buffer.alloc(4096, 'x');
  const most = 3_000_000;
  let sent = 0;
  while (sent < most) {
    client.socket.write(piece);
    sent += piece.length;
    // So long that no piece is read together with the next.
    await sleep(2);
    if (client.socket.writableLength > 0 && (await Promise.race([once(client.socket, 'drain'), sleep(500, 'full')])) === 'full') {
      break;
    }
  }
  t.ok(sent < most, `${sent} bytes went somewhere`);
  client.destroy();
});
