import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startOrigin } from '../support/origin.js';
import { makePrefix } from '../support/prefix.js';
import { RawClient } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

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

t.test('a body in chunks has no length while it is passed on', async (t) => {
  let asked = '';
  const backend = createServer((socket) => {
    socket.on('error', () => {}).setEncoding('latin1');
    socket.on('data', (text: string) => {
      asked += text;
      if (asked.includes('bodies')) {
        socket.end();
      }
    });
  }).listen(0, '127.0.0.1');
  t.teardown(() => backend.close());
  await once(backend, 'listening');
  const { port } = backend.address() as { port: number };
  const s = await startServer(t, {
    conf: serverConf(
      `location / { fastcgi_pass 127.0.0.1:${port}; fastcgi_request_buffering off; fastcgi_param LENGTH "<$content_length>"; }
      access_log %%DIR%%/lengths.log lengths;`,
      'log_format lengths "$status $content_length";',
    ),
  });
  const client = await RawClient.connect(s.port(0));
  client.send('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n');
  await waitFor(() => asked.includes('<'), { what: () => 'a request at the backend' });
  client.send('6\r\nbodies\r\n0\r\n\r\n');
  await client.rest();
  await s.stop();
  t.equal(/<(.*?)>/.exec(asked)?.[1], '', 'a program is not told that there is none');
  t.equal(s.read('lengths.log').trim(), '502 6', 'it has one at its end');
});

t.test('a subrequest has no part in a body that is passed on', async (t) => {
  let asked = 0;
  const origin = await startOrigin(
    t,
    ({ target, head, body }) => ({ body: `${target} ${/^content-length: (\d+)/im.exec(head)?.[1] ?? 'none'} ${body.length}\n` }),
    { onConnection: () => void asked++ },
  );
  const s = await startServer(t, {
    conf: serverConf(`
      location / { proxy_pass http://127.0.0.1:${origin.port}; proxy_http_version 1.1; proxy_request_buffering off; add_before_body /before; addition_types *; }
      location = /before { proxy_pass http://127.0.0.1:${origin.port}; }`),
  });
  for (const [framing, first, rest] of [
    ['Content-Length: 6', 'bod', 'ies'],
    ['Transfer-Encoding: chunked', '3\r\nbod\r\n', '3\r\nies\r\n0\r\n\r\n'],
  ] as const) {
    const before = asked;
    const client = await RawClient.connect(s.port(0));
    client.send(`POST /main HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n${first}`);
    await waitFor(() => asked > before, { what: () => 'the request at the backend' });
    client.send(rest);
    const { status, text } = await client.response();
    t.equal(status, 200, framing);
    t.match(text, /^\/before (0|none) 0\n\/main \S+ 6\n$/, framing);
    client.destroy();
  }
});
