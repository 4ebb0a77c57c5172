import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { startOrigin } from '../support/origin.js';
import { http, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

const get = (path: string, more = '', version = '1.1') => `GET ${path} HTTP/${version}\r\nHost: a\r\n${more}\r\n`;

t.test('which connections stay', async (t) => {
  const s = await startServer(t, { conf: serverConf('location /r { return 200 ok; } location / { }'), files: { 'html/file': 'content' } });
  const rows: readonly [request: string, connection: string, stays: boolean][] = [
    [get('/r'), 'keep-alive', true],
    [get('/r', 'Connection: keep-alive\r\n'), 'keep-alive', true],
    [get('/r', 'Connection: close\r\n'), 'close', false],
    [get('/r', 'Connection: CLOSE\r\n'), 'close', false],
    [get('/r', '', '1.0'), 'close', false],
    [get('/r', 'Connection: keep-alive\r\n', '1.0'), 'keep-alive', true],
    [get('/file', 'Connection: keep-alive\r\n', '1.0'), 'keep-alive', true],
    [get('/missing'), 'keep-alive', true],
    [get('/r', 'Connection: keep-alive\r\nUser-Agent: Mozilla/4.0 (compatible; MSIE 5.5)\r\n'), 'keep-alive', true],
  ];
  for (const [request, connection, stays] of rows) {
    const client = await RawClient.connect(s);
    t.equal((await client.send(request).response()).header('Connection'), connection, request);
    if (stays) {
      t.equal((await client.send(get('/r')).response()).status, 200, request);
    } else {
      t.equal(await client.rest(), '', request);
    }
    client.destroy();
  }
});

t.test('many requests on one connection', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location / { return 200 "$connection_requests"; } location /file { }'),
    files: { 'html/file': 'content' },
  });
  const client = await RawClient.connect(s);
  for (let i = 1; i <= 50; i++) {
    t.equal((await client.send(get('/')).response()).text, String(i));
  }
  const head = await client.send('HEAD /file HTTP/1.1\r\nHost: a\r\n\r\n').response();
  t.equal(head.header('Content-Length'), '7');
  t.equal((await client.send(get('/file')).response()).text, 'content');
  client.destroy();
});

t.test('keepalive_requests', async (t) => {
  const s = await startServer(t, { conf: serverConf('keepalive_requests 3; location / { return 200 ok; }') });
  const client = await RawClient.connect(s);
  client.send(get('/').repeat(4));
  t.strictSame(
    [await client.response(), await client.response(), await client.response()].map((r) => r.header('Connection')),
    ['keep-alive', 'keep-alive', 'close'],
  );
  t.equal(await client.rest(), '', 'the fourth is not answered');
});

t.test('keepalive_timeout', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; location / { return 200 ok; }
        location /zero { keepalive_timeout 0; return 200 ok; }
        location /header { keepalive_timeout 10s 7s; return 200 ok; }
        location /short { keepalive_timeout 100ms; return 200 ok; }
        location /old { keepalive_disable none; return 200 ok; } }`),
  });
  t.equal((await http(s, get('/zero'))).header('Connection'), 'close');
  t.equal((await http(s, get('/header'))).header('Keep-Alive'), 'timeout=7');
  t.equal((await http(s, get('/'))).header('Keep-Alive'), undefined);
  const client = await RawClient.connect(s);
  await client.send(get('/short')).response();
  t.equal(await client.rest(), '');
});

t.test('keepalive_time', async (t) => {
  const s = await startServer(t, { conf: serverConf('keepalive_time 100ms; location / { return 200 ok; }') });
  const client = await RawClient.connect(s);
  let connection: string | undefined = 'keep-alive';
  while (connection === 'keep-alive') {
    connection = (await client.send(get('/')).response()).header('Connection');
  }
  t.equal(connection, 'close');
  t.equal(await client.rest(), '');
});

t.test('a pipelined request is answered though its client closes its side as the answer before it comes', async (t) => {
  let finish = (): void => {};
  const origin = await startOrigin(t, async (request) => {
    if (request.target === '/first') {
      await new Promise<void>((done) => (finish = done));
    }
    return { body: request.target };
  });
  const s = await startServer(t, {
    conf: serverConf(`proxy_ignore_client_abort on; location / { proxy_pass http://127.0.0.1:${origin.port}; }`),
  });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/first') + requestText('GET', '/second'));
  await origin.received(1);
  // Both events wait for the worker when it goes on: the end of the response first, then the end of what the client sends.
  const worker = s.workers()[0]!;
  process.kill(worker, 'SIGSTOP');
  t.teardown(() => void process.kill(worker, 'SIGCONT'));
  finish();
  await new Promise((done) => setTimeout(done, 50));
  client.end();
  await new Promise((done) => setTimeout(done, 50));
  process.kill(worker, 'SIGCONT');
  t.equal((await client.response()).text, '/first');
  t.equal((await client.response()).text, '/second');
});

t.test('a graceful end lets requests finish and closes idle connections', async (t) => {
  const s = await startServer(t, { conf: serverConf('keepalive_min_timeout 0; location / { return 200 ok; }'), compatible: !againstNginx });
  const idle = await RawClient.connect(s);
  await idle.send(get('/')).response();
  const busy = await RawClient.connect(s);
  busy.send('GET / HTTP/1.1\r\n');
  // The head must have reached the worker before it is told to leave.
  await http(s, get('/'));
  const stopped = s.stop('QUIT');
  t.equal(await idle.rest(), '');
  const answer = await busy.send('Host: a\r\n\r\n').response();
  t.strictSame([answer.status, answer.header('Connection')], [200, 'close']);
  await stopped;
});
