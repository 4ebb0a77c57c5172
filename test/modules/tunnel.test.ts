import { randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { listenAsBackend } from '../support/backend-server.js';
import { configMessage } from '../support/config-message.js';
import { startNameServer } from '../support/name-server.js';
import { http, httpGet, RawClient } from '../support/raw-client.js';
import { httpConf, type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const connectHead = (target: string, more = ''): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${more}\r\n`;

interface Backend {
  readonly port: number;
  readonly sockets: ReadonlySet<Socket>;
}

/** A backend that does with each connection as it is told. */
async function startBackend(t: Test, use: (socket: Socket) => void): Promise<Backend> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    use(socket);
  });
  const { port } = await listenAsBackend(t, server, sockets, {});
  return { port, sockets };
}

const startEcho = (t: Test): Promise<Backend> => startBackend(t, (socket) => socket.pipe(socket));

/** Opens a tunnel; what follows the head is left to be taken. */
async function openTunnel(s: Server, target: string): Promise<RawClient> {
  const client = await RawClient.connect(s);
  client.send(connectHead(target));
  const head = await client.take((await client.until('\r\n\r\n')).indexOf('\r\n\r\n') + 4);
  t.match(head, /^HTTP\/1\.1 200 OK\r\n/);
  t.notMatch(head, /Transfer-Encoding|Content-Length|Content-Type/);
  return client;
}

t.test('where a tunnel leads', async (t) => {
  const echo = await startEcho(t);
  const s = await startServer(t, {
    conf: httpConf(`
      upstream group { server 127.0.0.1:${echo.port}; }
      server { listen 127.0.0.1:%%PORT_0%%; tunnel_pass; }
      server { listen 127.0.0.1:%%PORT_1%%; location / { tunnel_pass group; } }
      server { listen 127.0.0.1:%%PORT_2%%; location / { if ($request_port = 7) { tunnel_pass 127.0.0.1:${echo.port}; break; } return 403; } }
      server { listen 127.0.0.1:%%PORT_3%%; set $to group; tunnel_pass $to; }`),
  });
  for (const [port, target] of [
    [0, `127.0.0.1:${echo.port}`],
    [1, 'wherever.test:1'],
    [2, 'wherever.test:7'],
    [3, 'wherever.test:1'],
  ] as const) {
    const client = await RawClient.connect(s.port(port));
    client.send(`${connectHead(target)}first`);
    await client.until('\r\n\r\nfirst');
    client.send(' second');
    await client.until('first second');
    client.destroy();
  }
  t.equal((await http(s.port(2), connectHead('wherever.test:8'))).status, 403);
});

t.test('a name is looked up', async (t) => {
  const echo = await startEcho(t);
  const dns = await startNameServer(t, { 'a.test': [{ type: 'A', value: '127.0.0.1' }] });
  const s = await startServer(t, { conf: serverConf(`resolver 127.0.0.1:${dns.port} ipv6=off; tunnel_pass;`) });
  const client = await openTunnel(s, `a.test:${echo.port}`);
  client.send('hello');
  t.equal(await client.take(5), 'hello');
  client.destroy();
  t.equal((await http(s, connectHead('b.test:80'))).status, 502);
  await s.logged(/\[error\] .*b\.test could not be resolved \(3: Host not found\)/);
});

t.test('what is refused', async (t) => {
  const echo = await startEcho(t);
  const s = await startServer(t, {
    compatible: true,
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; server_name plain; location / { return 200 plain; } }
      server { listen 127.0.0.1:%%PORT_0%%; server_name proxy; tunnel_pass 127.0.0.1:${echo.port}; location /page { return 200 page; } }
      server { listen 127.0.0.1:%%PORT_1%%; tunnel_pass; }`),
  });
  const status = async (request: string, port = 0): Promise<number> => (await http(s.port(port), request)).status;
  t.equal(await status(connectHead('plain:1')), 405, 'a server without tunnels');
  t.equal(await status('CONNECT proxy:1 HTTP/1.0\r\n\r\n'), 405, 'HTTP/1.0');
  t.equal(await status('GET / HTTP/1.1\r\nHost: proxy\r\n\r\n'), 405, 'another method');
  t.equal(await status('GET /page HTTP/1.1\r\nHost: proxy\r\n\r\n'), 200, 'a location of its own');
  t.equal(await status(connectHead('proxy:1', 'Content-Length: 1\r\n')), 400, 'a body');
  t.equal(await status(connectHead('proxy:1', 'Transfer-Encoding: chunked\r\n')), 400, 'a chunked body');
  for (const target of ['proxy', 'proxy:', ':1', '/', 'proxy:1/', 'user@proxy:1', 'http://proxy:1', 'proxy:65536', 'proxy:x']) {
    t.equal(await status(`CONNECT ${target} HTTP/1.1\r\nHost: proxy\r\n\r\n`), 400, target);
  }
  t.equal(await status(connectHead('127.0.0.1:0'), 1), 500, 'port 0');
  t.equal(await status(connectHead('127.0.0.1:1'), 1), 502, 'nobody listens');
  await s.logged(/\[error\] .*connect\(\) failed \(111: Connection refused\) while connecting to upstream, .*upstream: "127\.0\.0\.1:1"/);
});

t.test('the wrong arguments', async (t) => {
  const refuses = async (server: string, message: string): Promise<void> => {
    t.equal((await configMessage(t, serverConf(server)))?.replace(/ in %%FILE%%:\d+$/, ''), message, server);
  };
  await refuses('tunnel_pass 127.0.0.1:1; tunnel_pass;', '"tunnel_pass" directive is duplicate');
  await refuses('tunnel_pass 127.0.0.1:1/x;', 'invalid host in upstream "127.0.0.1:1/x"');
  await refuses('tunnel_pass 127.0.0.1;', 'no port in upstream "127.0.0.1"');
  await refuses('tunnel_next_upstream http_502;', 'invalid value "http_502"');
  await refuses('tunnel_buffer_size x;', '"tunnel_buffer_size" directive invalid value');
});

t.test('names and passwords for a proxy', async (t) => {
  const echo = await startEcho(t);
  const s = await startServer(t, {
    conf: httpConf(`
      auth_basic "the proxy"; auth_basic_user_file %%DIR%%/users; log_format user "$remote_user $status"; access_log %%DIR%%/users.log user;
      server { listen 127.0.0.1:%%PORT_0%%; tunnel_pass; location /page { root %%DIR%%; } }
      server { listen 127.0.0.1:%%PORT_1%%; satisfy any; deny all; tunnel_pass; }`),
    files: { users: 'ann:{PLAIN}secret\n', page: 'page' },
  });
  const to = `127.0.0.1:${echo.port}`;
  const basic = (password: string): string => `Basic ${Buffer.from(`ann:${password}`).toString('base64')}\r\n`;
  for (const port of [0, 1]) {
    const asked = await http(s.port(port), connectHead(to));
    t.equal(asked.status, 407);
    t.equal(asked.header('Proxy-Authenticate'), 'Basic realm="the proxy"');
    t.equal(asked.header('WWW-Authenticate'), undefined);
    t.equal(asked.header('Connection'), 'close');
    t.equal((await http(s.port(port), connectHead(to, `Authorization: ${basic('secret')}`))).status, 407);
    t.equal((await http(s.port(port), connectHead(to, `Proxy-Authorization: ${basic('wrong')}`))).status, 407);
    const client = await RawClient.connect(s.port(port));
    client.send(`${connectHead(to, `Proxy-Authorization: ${basic('secret')}`)}hello`);
    await client.until('\r\n\r\nhello');
    client.destroy();
    await waitFor(() => s.read('users.log').split('ann 200\n').length === port + 2, { what: () => s.read('users.log') });
  }
  const page = await httpGet(s, '/page', { 'Proxy-Authorization': basic('secret').trim() });
  t.strictSame([page.status, page.header('WWW-Authenticate')], [401, 'Basic realm="the proxy"']);
});

t.test('an error page', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location / { if ($request_method = CONNECT) { tunnel_pass; error_page 502 /50x.html; break; } }`),
    files: { 'html/50x.html': 'an apology' },
  });
  const answer = await http(s, connectHead('127.0.0.1:1'));
  t.strictSame([answer.status, answer.text], [502, 'an apology']);
});

t.test('the next server of a group', async (t) => {
  const echo = await startEcho(t);
  const s = await startServer(t, {
    conf: httpConf(`
      upstream group { server 127.0.0.1:1; server 127.0.0.1:${echo.port} backup; }
      log_format up "$upstream_addr|$upstream_status|$upstream_bytes_sent|$upstream_bytes_received|$status|$body_bytes_sent|$request_uri";
      access_log %%DIR%%/up.log up;
      server { listen 127.0.0.1:%%PORT_0%%; tunnel_pass group; }
      server { listen 127.0.0.1:%%PORT_1%%; tunnel_pass group; tunnel_next_upstream off; }`),
  });
  const client = await openTunnel(s, 'a.test:1');
  client.send('hello');
  t.equal(await client.take(5), 'hello');
  client.destroy();
  await waitFor(() => s.read('up.log') === `127.0.0.1:1, 127.0.0.1:${echo.port}|502, -|0, 5|0, 5|200|5|/\n`, {
    what: () => s.read('up.log'),
  });
});

t.test('the end of either side', async (t) => {
  const greeting = await startBackend(t, (socket) => {
    socket.on('data', (data) => socket.write(data));
    socket.on('end', () => socket.end());
    socket.end('and good bye');
  });
  const echo = await startEcho(t);
  const s = await startServer(t, { conf: serverConf('tunnel_pass;') });
  const left = await openTunnel(s, `127.0.0.1:${greeting.port}`);
  t.equal(await left.rest(), 'and good bye', 'the backend ends');

  const leaving = await openTunnel(s, `127.0.0.1:${echo.port}`);
  leaving.send('hello');
  t.equal(await leaving.take(5), 'hello');
  leaving.end();
  await leaving.rest();
  await waitFor(() => echo.sockets.size === 0, { what: 'the end at the backend' });

  const reset = await openTunnel(s, `127.0.0.1:${echo.port}`);
  reset.send('hello');
  await reset.take(5);
  reset.destroy(true);
  await waitFor(() => echo.sockets.size === 0, { what: 'the end at the backend after a reset' });
  const broken = await openTunnel(s, `127.0.0.1:${echo.port}`);
  for (const socket of echo.sockets) {
    socket.resetAndDestroy();
  }
  await broken.closed();
});

t.test('one byte at a time, and a client that leaves in the middle', async (t) => {
  const echo = await startEcho(t);
  const s = await startServer(t, { conf: serverConf('tunnel_pass;') });
  const request = connectHead(`127.0.0.1:${echo.port}`);
  const client = await RawClient.connect(s);
  for (const byte of `${request}hello`) {
    client.socket.write(byte);
  }
  await client.until('\r\n\r\nhello');
  client.destroy();
  for (let length = 1; length < request.length; length += 7) {
    const early = await RawClient.connect(s);
    early.send(request.slice(0, length)).end();
    await early.closed();
  }
  await waitFor(() => echo.sockets.size === 0, { what: 'the end of the tunnels' });
});

t.test('megabytes in both directions, and a side that does not read', async (t) => {
  const data = randomBytes(32_000_000);
  const echo = await startEcho(t);
  const held: Socket[] = [];
  const deaf = await startBackend(t, (socket) => {
    held.push(socket);
    socket.pause();
  });
  const flood = await startBackend(t, (socket) => socket.write(data));
  const s = await startServer(t, { conf: serverConf('tunnel_pass;') });
  const both = await openTunnel(s, `127.0.0.1:${echo.port}`);
  both.send(data);
  t.ok(Buffer.from(await both.take(data.length), 'latin1').equals(data), 'what comes back');
  both.destroy();

  // What is not read is held back at the sender: the kernel's buffers are full, and the worker's memory is not.
  const slow = await openTunnel(s, `127.0.0.1:${flood.port}`);
  slow.pause();
  const talker = await openTunnel(s, `127.0.0.1:${deaf.port}`);
  const written = talker.socket.write(data);
  t.equal(written, false);
  await httpGet(s, '/');
  t.ok(talker.socket.writableLength > 0, 'a client is held back');
  slow.resume();
  t.ok(Buffer.from(await slow.take(data.length), 'latin1').equals(data), 'all of it comes');
  slow.destroy();
  let received = 0;
  held[0]!.on('data', (piece) => (received += piece.length)).resume();
  talker.end();
  await waitFor(() => received === data.length, { what: () => `all of ${data.length} bytes; ${received} came` });
});

t.test('timeouts', async (t) => {
  const silent = await startBackend(t, () => {});
  const flood = await startBackend(t, (socket) => socket.write(Buffer.alloc(16_000_000)));
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; tunnel_pass; tunnel_read_timeout 100ms; }
      server { listen 127.0.0.1:%%PORT_1%%; tunnel_pass; send_timeout 100ms; }
      server { listen 127.0.0.1:%%PORT_2%%; tunnel_pass; tunnel_send_timeout 100ms; }`),
  });
  const quiet = await openTunnel(s, `127.0.0.1:${silent.port}`);
  t.equal(await quiet.rest(), '');
  await s.logged(/\[info\] .*upstream timed out \(110: Connection timed out\) while proxying upgraded connection/);

  const deaf = await RawClient.connect(s.port(1));
  deaf.pause();
  deaf.send(connectHead(`127.0.0.1:${flood.port}`));
  await s.logged(/\[info\] .*client timed out \(110: Connection timed out\) while proxying upgraded connection/);
  deaf.destroy();

  const paused = await startBackend(t, (socket) => socket.pause());
  const talker = await RawClient.connect(s.port(2));
  talker.send(connectHead(`127.0.0.1:${paused.port}`)).send(Buffer.alloc(16_000_000), 'GET');
  await talker.closed();
});

t.test('a reload', async (t) => {
  const echo = await startEcho(t);
  const s = await startServer(t, { conf: serverConf('tunnel_pass;') });
  const client = await openTunnel(s, `127.0.0.1:${echo.port}`);
  await s.reload(serverConf('return 200 new;'));
  t.equal((await http(s, connectHead(`127.0.0.1:${echo.port}`))).status, 405);
  client.send('still');
  t.equal(await client.take(5), 'still');
  t.equal(s.workers().length, 2);
  client.destroy();
  await waitFor(() => s.workers().length === 1, { what: 'the end of the old worker' });
});
