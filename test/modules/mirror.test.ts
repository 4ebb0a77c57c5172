import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

t.test('copies of requests', async (t) => {
  const origin = await startOrigin(t, { body: 'from the backend' });
  const copies = await startOrigin(t, ({ target }) => ({ status: target.startsWith('/second') ? 500 : 200, body: 'never seen' }));
  const s = await startServer(t, {
    conf: serverConf(`
      location / { mirror /first; mirror /second; proxy_pass http://127.0.0.1:${origin.port}; }
      location = /first { internal; proxy_pass http://127.0.0.1:${copies.port}$request_uri; }
      location = /second { internal; proxy_pass http://127.0.0.1:${copies.port}/second/$is_args$args; }
      location /plain { mirror /first; mirror_request_body off; }
      location /dead { mirror /nobody; }
      location = /nobody { return 444; }
      location /no { mirror off; }`),
    files: { 'html/plain': 'answered', 'html/dead': 'alive', 'html/no': 'alone' },
  });
  const response = await http(s, requestText('PUT', '/a/b?c=d', { 'X-Header': 'kept' }, 'the body'));
  t.equal(response.status, 200);
  t.equal(response.text, 'from the backend');
  await copies.received(2);
  t.equal((await origin.received(1)).body.toString(), 'the body');
  t.strictSame(copies.requests.map(({ target }) => target).sort(), ['/a/b?c=d', '/second/?c=d']);
  for (const { method, header, body, target } of copies.requests) {
    t.equal(method, 'PUT', target);
    t.equal(header('X-Header'), 'kept');
    t.equal(body.toString(), 'the body');
  }
  t.equal((await httpGet(s, '/dead')).text, 'alive', 'what becomes of a copy is of no matter');
  t.equal((await httpGet(s, '/no')).text, 'alone');
  t.equal((await httpGet(s, '/plain')).text, 'answered');
  t.equal((await copies.received(3)).target, '/plain');
  t.equal(s.accessLog().trim().split('\n').length, 4, 'copies are not logged');
});

t.test('without the body', async (t) => {
  const origin = await startOrigin(t, { body: 'ok' });
  const copies = await startOrigin(t, { body: '' });
  const s = await startServer(t, {
    conf: serverConf(`
      mirror /copy;
      mirror_request_body off;
      location / { proxy_pass http://127.0.0.1:${origin.port}; }
      location = /copy {
        internal;
        proxy_pass_request_body off;
        proxy_set_header Content-Length "";
        proxy_set_header X-Original-URI $request_uri;
        proxy_pass http://127.0.0.1:${copies.port};
      }`),
  });
  t.equal((await http(s, requestText('POST', '/x?y', {}, 'the body'))).text, 'ok');
  t.equal((await origin.received(1)).body.toString(), 'the body');
  const copy = await copies.received(1);
  t.equal(copy.method, 'POST');
  t.equal(copy.target, '/copy?y');
  t.equal(copy.header('X-Original-URI'), '/x?y');
  t.equal(copy.header('Content-Length'), undefined);
  t.equal(copy.body.length, 0);
  t.equal(copies.requests.length, 1, 'a copy is not copied');
});

t.test('messages', async (t) => {
  for (const [line, expected] of [
    ['mirror /a; mirror /b', undefined],
    ['mirror off; mirror /a', '"mirror" directive is duplicate in %%FILE%%:11'],
    ['mirror /a; mirror off', '"mirror" directive is duplicate in %%FILE%%:11'],
    ['mirror_request_body maybe', 'invalid value "maybe" in "mirror_request_body" directive, it must be "on" or "off" in %%FILE%%:11'],
  ] as const) {
    t.equal(await configMessage(t, serverConf(`${line};`)), expected, line);
  }
});

t.test('the next request on the connection waits for the copies', async (t) => {
  const release: (() => void)[] = [];
  const copies = await startOrigin(t, () => new Promise((done) => void release.push(() => done({ body: 'copy' }))));
  const s = await startServer(t, {
    conf: serverConf(`
      location /mirrored { mirror /copy; }
      location = /copy { internal; proxy_pass http://127.0.0.1:${copies.port}; }`),
    files: { 'html/mirrored': 'mirrored', 'html/plain': 'plain' },
  });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/mirrored') + requestText('GET', '/plain'));
  t.equal((await client.response()).text, 'mirrored', 'the response itself does not wait');
  await waitFor(() => release.length === 1);
  // One that another connection asks meanwhile is served.
  t.equal((await httpGet(s, '/plain')).text, 'plain');
  t.equal(client.received, '', 'nothing more came');
  t.equal(s.accessLog().split('GET /mirrored').length, 1, 'the request is not over');
  release[0]!();
  t.equal((await client.response()).text, 'plain');
  await s.accessLogged(/GET \/mirrored/);

  const closing = await RawClient.connect(s);
  closing.send(requestText('GET', '/mirrored', { Connection: 'close' }));
  t.equal((await closing.response()).text, 'mirrored');
  await waitFor(() => release.length === 2);
  t.equal((await httpGet(s, '/plain')).text, 'plain');
  t.notOk(closing.ended, 'nor is the connection closed');
  release[1]!();
  await closing.closed();
});

t.test('a response that breaks off does not wait for the copies', { skip: againstNginx && 'nginx has the client wait' }, async (t) => {
  const origin = await startOrigin(t, async (_request, reply) => {
    await reply.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
    return reply.end();
  });
  const copies = await startOrigin(t, () => new Promise(() => {}));
  const s = await startServer(t, {
    conf: serverConf(`
      location / { mirror /copy; proxy_pass http://127.0.0.1:${origin.port}; }
      location = /copy { internal; proxy_pass http://127.0.0.1:${copies.port}; }`),
  });
  for (const method of ['GET', 'POST']) {
    const client = await RawClient.connect(s);
    client.send(requestText(method, '/', method === 'POST' ? { 'Content-Length': '1' } : {}, method === 'POST' ? 'x' : undefined));
    await client.closed();
    t.match(client.received, /\r\n\r\nhalf$/);
  }
  await s.logged(/upstream prematurely closed connection/);
  t.equal(s.accessLog().split('\n').filter(Boolean).length, 2);
});
