import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { whyNoEarlyData } from '../../src/worker/net/openssl/early-data.js';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { early, OpenSslClient, request, ticket } from '../support/early-client.js';
import { block, END_HEADERS, END_STREAM, request as fields, frame, settings, T } from '../support/http2-client.js';
import { makePrefix } from '../support/prefix.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, startServer } from '../support/server.js';

const why = againstNginx ? '' : whyNoEarlyData();
const { rsa } = certs();
const onRing = againstNginx || process.env['SLUICE_TEST_NET_ENGINE'] !== 'libuv';

const conf = (workers: number, more = '', rest = ''): string =>
  `worker_processes ${workers};\n${httpConf(`
    ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
    server { listen 127.0.0.1:%%PORT_1%%; location / { return 200 "backend early=$http_early_data"; } }
    server {
      listen 127.0.0.1:%%PORT_0%% ssl; server_name localhost; http2 on; ssl_early_data on; ${more}
      location / { return 200 "path=$uri early=<$ssl_early_data> reused=$ssl_session_reused"; }
      location /only-late { if ($ssl_early_data) { return 425; } return 200 "late"; }
      location /proxied { proxy_set_header Early-Data $ssl_early_data; proxy_pass http://127.0.0.1:%%PORT_1%%; }
      location /large { root %%DIR%%/html; }
    }
    ${rest}`)}`;

t.test('early data', { skip: why || false }, async (t) => {
  const { dir } = await makePrefix(t, {});
  const large = 'x'.repeat(300_000);
  const s = await startServer(t, {
    conf: conf(2, '', `server { listen 127.0.0.1:%%PORT_2%% ssl; server_name localhost; return 200 "early=<$ssl_early_data>"; }`),
    files: { 'html/large': large },
  });
  const port = s.port(0);
  const word = onRing ? 'accepted' : 'rejected';
  await ticket(port, `${dir}/session`);
  for (let i = 0; i < 6; i++) {
    const out = await early(port, dir, request('/a'), onRing ? '' : request('/a'));
    t.match(out, `Early data was ${word}`);
    t.match(out, onRing ? 'path=/a early=<1> reused=r' : 'path=/a early=<> reused=r', 'in either worker');
  }
  const both = await early(port, dir, request('/a', '\r\n'), request('/b'));
  t.match(both, onRing ? 'path=/a early=<1>' : 'path=/b early=<>');
  t.match(both, 'path=/b early=<>', 'behind the handshake');
  if (onRing) {
    t.match(await early(port, dir, request('/only-late')), 'HTTP/1.1 425');
    t.match(await early(port, dir, request('/only-late', '\r\n'), request('/only-late')), /425[\s\S]*late/);
    t.match(await early(port, dir, request('/proxied')), 'backend early=1');
    t.match(await early(port, dir, request('/proxied', '\r\n'), request('/proxied')), /early=1[\s\S]*backend early=(?!1)/);
    // Otherwise the command writes what it knows of tickets into the response.
    const out = await early(port, dir, request('/large'), '', '-quiet');
    t.ok(out.includes(large), 'a response that does not fit into what a client takes at once');
    const split = await early(port, dir, 'GET /split HT', 'TP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    t.match(split, 'path=/split early=<>', 'a request that ends behind the handshake is no early one');
    const body = await early(port, dir, request('/a', 'Content-Length: 10\r\n\r\n12345', 'POST'), `67890${request('/b')}`);
    t.match(body, /path=\/a[\s\S]*path=\/b early=<>/);
  }
  if (onRing && !againstNginx) {
    const preface = `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${settings().toString('latin1')}`;
    const get = (id: number): string =>
      frame(T.HEADERS, END_STREAM | END_HEADERS, id, block(fields('GET', `/h2-${id}`))).toString('latin1');
    await ticket(port, `${dir}/session`, '-alpn', 'h2');
    writeFileSync(`${dir}/early`, preface + get(1), 'latin1');
    const client = new OpenSslClient(port, ['-sess_in', `${dir}/session`, '-early_data', `${dir}/early`, '-alpn', 'h2']);
    await client.until('path=/h2-1 early=<1>');
    client.send(get(3));
    await client.until('path=/h2-3 early=<>');
    client.kill();
    await client.end();
    await ticket(port, `${dir}/session`);
  }
  await s.reload();
  t.match(await early(port, dir, request('/after'), onRing ? '' : request('/after')), `Early data was ${word}`);
  await ticket(s.port(2), `${dir}/session`);
  t.match(readFileSync(`${dir}/session`, 'latin1'), 'BEGIN SSL SESSION');
  const off = new OpenSslClient(s.port(2), ['-sess_in', `${dir}/session`]);
  off.send(request('/off'));
  const text = await off.end();
  t.match(text, 'early=<>');
  t.match(text, /Max Early Data: 0|Early data was not sent/);
});

t.test('early data that is refused is read anew', { skip: why || !onRing || false }, async (t) => {
  const { dir } = await makePrefix(t, {});
  const key = 'ssl_session_ticket_key %%DIR%%/';
  const s = await startServer(t, {
    conf: conf(1, `${key}one.key; ssl_ecdh_curve prime256v1;`),
    files: { 'one.key': 'a'.repeat(48), 'two.key': 'b'.repeat(48) },
  });
  const port = s.port(0);
  await ticket(port, `${dir}/session`);
  t.match(await early(port, dir, request('/a'), '', '-groups', 'P-256'), 'path=/a early=<1>');
  const retried = await early(port, dir, request('/a'), request('/b'), '-groups', 'X25519:P-256');
  t.match(retried, 'Early data was rejected', 'a client that has to begin again with another group');
  t.match(retried, 'path=/b early=<> reused=r');
  t.notMatch(retried, 'path=/a');
  await s.reload(conf(1, `${key}two.key; ssl_ecdh_curve prime256v1;`));
  const refused = await early(port, dir, request('/a'), request('/b'), '-groups', 'P-256');
  t.match(refused, 'Early data was rejected', 'a ticket with a key that is not there any more');
  t.match(refused, 'path=/b early=<> reused=.');
  t.notMatch(refused, 'path=/a');
  await s.reload(conf(1, `${key}two.key; ssl_verify_client optional_no_ca; ssl_ecdh_curve prime256v1;`));
  await ticket(port, `${dir}/session`);
  if (!againstNginx) {
    t.match(await early(port, dir, request('/a'), request('/b'), '-groups', 'P-256'), 'Early data was rejected');
  }
});

/** Passes connections on, and what the client says one byte at a time. */
async function dripping(t: Test, to: number): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const backend = connect({ port: to, host: '127.0.0.1', noDelay: true });
    sockets.add(client).add(backend);
    client.on('data', async (bytes) => {
      client.pause();
      for (const byte of bytes) {
        await new Promise<void>((done) => backend.write(Buffer.of(byte), () => done()));
      }
      client.resume();
    });
    client.on('end', () => backend.end());
    backend.pipe(client);
    for (const socket of [client, backend]) {
      socket.on('error', () => {});
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  return (server.address() as { port: number }).port;
}

t.test('a ticket whose key is not that of new tickets any more', { skip: why || !onRing || false }, async (t) => {
  const { dir } = await makePrefix(t, {});
  const keys = (...names: string[]): string => conf(1, names.map((name) => `ssl_session_ticket_key %%DIR%%/${name}.key;`).join(' '));
  const s = await startServer(t, { conf: keys('one'), files: { 'one.key': 'a'.repeat(48), 'two.key': 'b'.repeat(48) } });
  const port = s.port(0);
  const session = `${dir}/session`;
  await ticket(port, session);
  await s.reload(keys('two', 'one'));
  // A client with the newest key before and behind it.
  await ticket(port, `${dir}/other`);
  const renewed = await early(port, dir, request('/a', '\r\n'), request('/behind'), '-sess_out', `${dir}/next`);
  t.match(renewed, /path=\/a early=<1> reused=r[\s\S]*path=\/behind early=<>/);
  t.match(await early(port, dir, request('/b')), 'path=/b early=<1> reused=r', 'as often as there are clients');
  await s.reload(keys('two'));
  t.match(await early(port, dir, request('/c'), request('/d')), 'path=/d early=<> reused=.');
  renameSync(`${dir}/next`, session);
  t.match(await early(port, dir, request('/e')), 'path=/e early=<1> reused=r', 'what it got is a ticket with the newest key');
  renameSync(`${dir}/other`, session);
  t.match(await early(port, dir, request('/f')), 'path=/f early=<1> reused=r');
});

t.test('early data of strangers', { skip: why || !onRing || false }, async (t) => {
  const { dir } = await makePrefix(t, {});
  const s = await startServer(t, { conf: conf(1), expectAlerts: /too much early data|record layer failure/ });
  const port = s.port(0);
  await ticket(port, `${dir}/session`);
  t.match(await early(await dripping(t, port), dir, request('/slow')), 'path=/slow early=<1>', 'one byte at a time');

  // Clients that stop in the middle, or go away, or send what cannot be decrypted.
  const recorded = await record(t, port, dir);
  for (let end = 6; end < recorded.length; end += 7) {
    await raw(port, recorded.subarray(0, end));
  }
  for (let at = 6; at < recorded.length; at += 11) {
    const bent = Buffer.from(recorded);
    bent[at]! ^= 0x41;
    await raw(port, bent);
  }
  // More than a ticket allows, and what is no record of this connection.
  await raw(
    port,
    Buffer.concat([recorded, Buffer.concat(Array(20).fill(Buffer.concat([Buffer.of(23, 3, 3, 64, 0), Buffer.alloc(16384)])))]),
  );
  const replayed = await raw(port, recorded);
  t.ok(replayed.length > 200, 'nginx answers early data again, too, which applications are to know by $ssl_early_data');
  t.match(await early(port, dir, request('/still')), 'path=/still early=<1>');
});

/** What a client with early data sends first. */
async function record(t: Test, port: number, dir: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const server = createServer((client) => {
    const backend = connect(port, '127.0.0.1');
    let answered = false;
    client.on('data', (bytes) => {
      if (!answered) {
        pieces.push(bytes);
      }
      backend.write(bytes);
    });
    backend.on('data', (bytes) => {
      answered = true;
      client.write(bytes);
    });
    client.on('close', () => backend.destroy());
    backend.on('close', () => client.destroy());
    for (const socket of [client, backend]) {
      socket.on('error', () => {});
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => server.close());
  t.match(await early((server.address() as { port: number }).port, dir, request('/recorded')), 'path=/recorded early=<1>');
  return Buffer.concat(pieces);
}

/** Sends bytes and the end; gives all that comes. */
function raw(port: number, bytes: Buffer): Promise<Buffer> {
  return new Promise((done) => {
    const pieces: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('error', () => {});
    socket.on('close', () => done(Buffer.concat(pieces)));
  });
}

t.test('-t says where early data is asked for and the engine has none', { skip: againstNginx }, async (t) => {
  const { stderr } = await testConfig(t, `net_engine libuv;\n${httpConf('server { listen 127.0.0.1:%%PORT_0%%; ssl_early_data on; }')}`);
  t.match(stderr, /\[warn\] "ssl_early_data" has no effect with "net_engine libuv": .* in \S+:\d+/);
  const other = await testConfig(t, `net_engine libuv;\n${httpConf('server { listen 127.0.0.1:%%PORT_0%%; ssl_early_data off; }')}`);
  t.notMatch(other.stderr, 'ssl_early_data');
});
