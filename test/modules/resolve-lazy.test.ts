import { createSocket } from 'node:dgram';
import t, { type Test } from 'tap';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** A name server that knows nothing until `address` is set, then one name for a second at a time. */
async function startNameServer(t: Test): Promise<{ port: number; address: string | undefined; asked: number }> {
  const socket = createSocket('udp4');
  const server = { port: 0, address: undefined as string | undefined, asked: 0 };
  socket.on('message', (query, from) => {
    server.asked++;
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const isA = question.readUInt16BE(question.length - 4) === 1;
    const answers = server.address !== undefined && isA ? 1 : 0;
    const head = Buffer.from([query[0]!, query[1]!, 0x81, server.address === undefined ? 0x82 : 0x80, 0, 1, 0, answers, 0, 0, 0, 0]);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...(server.address ?? '').split('.').map(Number)]);
    socket.send(Buffer.concat([head, question, ...(answers === 1 ? [record] : [])]), from.port, from.address);
  });
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  t.teardown(() => void socket.close());
  server.port = socket.address().port;
  return server;
}

t.test('resolve=lazy: starts without an address, answers 503, and serves when there is one', async (t) => {
  const names = await startNameServer(t);
  const origin = await startOrigin(t, { body: 'answer' });
  const s = await startServer(t, {
    conf: serverConf(
      'location / { proxy_pass http://group; }',
      `resolver 127.0.0.1:${names.port} ipv6=off; resolver_timeout 1s;
      upstream group { server backend.test:${origin.port} resolve=lazy; }`,
    ),
  });
  t.equal((await httpGet(s, '/')).status, 503);
  t.ok(await s.logged(/\[error\].* backend.test could not be resolved \(2: Server failure\)/));
  t.ok(await s.logged(/no live upstreams while connecting to upstream/));
  names.address = '127.0.0.1';
  await waitFor(async () => (await httpGet(s, '/')).text === 'answer', { what: () => s.log() });
  const { asked } = names;
  await waitFor(() => names.asked > asked, { what: () => 'the name to be looked up again' });
});

t.test('a name without an address is refused unless it is marked', async (t) => {
  const message = (line: string): Promise<string | undefined> =>
    configMessage(t, serverConf('location / { proxy_pass http://group; }', `upstream group { server ${line}; }`));
  t.match(await message('backend.invalid'), /host not found in upstream "backend.invalid"/);
  const files = { 'servers.conf': Buffer.from('server 127.0.0.\xb2;', 'latin1') };
  const included = serverConf('location / { proxy_pass http://group; }', 'upstream group { include servers.conf; }');
  t.match(await configMessage(t, included, files), /host not found in upstream "127\.0\.0\./, 'Node takes the byte for 2');
  t.match(await message('[fe80::1%lo]'), /invalid IPv6 address in upstream "\[fe80::1%lo\]"/);
  t.match(await message('backend.invalid resolve=lazy'), /no resolver defined to resolve names at run time in upstream "group"/);
  t.match(await message('backend.invalid resolve=later'), /invalid parameter "resolve=later"/);
});
