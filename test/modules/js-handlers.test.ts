import { createRequire } from 'node:module';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('nginx has no such handlers');
}

const require = createRequire(import.meta.url);
/** A module that has a package of this checkout under the name that it gives. */
const using = (name: string): string => `const { createRequire } = require('module');
const ${name.replace(/\W/g, '_')} = createRequire(${JSON.stringify(require.resolve('../support/server.ts'))})(${JSON.stringify(name)});
`;

const web = `
let left = 0;
const encode = (text) => new TextEncoder().encode(text);
export default {
  hello(request, env) {
    const url = new URL(request.url);
    return new Response('hello ' + url.searchParams.get('name') + ' ' + request.headers.get('x-a') + ' ' + env.r.variables.uri, {
      status: 201, statusText: 'Made', headers: [['X-A', '1'], ['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2'], ['Content-Type', 'text/x; charset=utf-8']],
    });
  },
  async echo(request) {
    const text = await request.text();
    return Response.json({ method: request.method, text, length: text.length, used: request.bodyUsed });
  },
  stream(request) {
    return new Response(request.body.pipeThrough(new TransformStream({ transform(piece, out) { out.enqueue(piece.map((c) => c ^ 32)); } })));
  },
  clone: async (request) => new Response(await request.clone().text() + (await new Request(request, { headers: { x: 'y' } }).text())),
  form: async (request) => new Response((await request.formData()).get('a')),
  empty: () => new Response(null, { status: 204 }),
  nothing: () => new Response(),
  not: () => new Response(null, { status: 304, headers: { etag: '"x"' } }),
  bytes: () => new Response(new Uint8Array([104, 105])),
  redirect: () => Response.redirect('http://example.com/'),
  throws() { throw new Error('on purpose'); },
  async rejects() { await null; throw new Error('later'); },
  none: () => 'text',
  bad: () => new Response('x', { headers: { 'x-a': 'a\\r\\nb: c' } }),
  never: () => new Promise(() => {}),
  aborted(request) {
    request.signal.addEventListener('abort', () => { left++; console.error('client left'); });
    return new Promise(() => {});
  },
  endless(request) {
    let n = 0;
    return new Response(new ReadableStream({
      pull(controller) { n++; controller.enqueue(new Uint8Array(65536)); },
      cancel() { console.error('cancelled ' + new URL(request.url).search + (n < 400 ? ' few' : n)); },
    }));
  },
  broken: () => new Response(new ReadableStream({ async pull(controller) {
    if (this.once) { throw new Error('in the stream'); } this.once = true; controller.enqueue(encode('begun'));
  } })),
  fetched: async (request, env) => fetch('http://127.0.0.1:' + env.r.variables.server_port + '/packed'),
  packed: () => new Response('packed'.repeat(100), { headers: { 'content-type': 'text/html' } }),
  isResponse: async () => new Response(String([new Response('') instanceof Response, (await fetch('data:,a')) instanceof Response, 1 instanceof Response, await new Response('a').clone().text(), new Response('x').headers.get('content-type')])),
  later: (request, env, context) => { context.waitUntil(Promise.reject(new Error('behind the answer'))); return new Response('early'); },
};
`;
const names = [
  'hello',
  'echo',
  'stream',
  'clone',
  'form',
  'empty',
  'nothing',
  'not',
  'bytes',
  'redirect',
  'throws',
  'rejects',
  'none',
  'bad',
  'never',
  'aborted',
  'endless',
  'broken',
  'fetched',
  'isResponse',
  'later',
];
const conf = httpConf(`
  js_import web from web.js;
  server {
    listen 127.0.0.1:%%PORT_0%%; error_log %%DIR%%/error.log info;
    ${names.map((name) => `location /${name} { js_content web.${name} fetch; }`).join('\n    ')}
    location /packed { gzip on; gzip_min_length 1; js_content web.packed fetch; }
    location /patient { js_timeout 20ms; js_content web.never; }
    location /soon { js_timeout 20ms; js_content web.never fetch; }
    location /moved { rewrite .* /else?name=q break; js_content web.hello fetch; }
    location /reason { js_content web.throws fetch; add_header X-Reason $error_reason always; }
  }`);

t.test('a function of Request and Response', async (t) => {
  const s = await startServer(t, { conf, files: { 'web.js': web } });
  const text = async (path: string): Promise<string> => {
    const { status, text: body } = await httpGet(s, path);
    return `${status} ${status === 500 ? '' : body}`;
  };
  const post = async (path: string, body: string, headers: Record<string, string> = {}): Promise<string> =>
    (await http(s, requestText('POST', path, { 'Content-Length': String(body.length), ...headers }, body))).text;
  const hello = await http(s, requestText('GET', '/hello?name=a%20b', { 'X-A': 'c' }));
  t.equal(hello.text, 'hello a b c /hello');
  t.match(hello.head, /^HTTP\/1\.1 201 Made\r\n/);
  t.match(hello.head, /\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n/i);
  t.equal(hello.header('Content-Type'), 'text/x; charset=utf-8');
  t.equal(hello.header('Content-Length'), '18');
  const head = await http(s, requestText('HEAD', '/bytes'));
  t.equal(head.header('Content-Length'), '2');
  t.equal(head.text, '');
  t.match(await text('/moved'), 'hello q null /else');
  t.strictSame(JSON.parse(await post('/echo', 'body')), { method: 'POST', text: 'body', length: 4, used: true });
  t.strictSame(JSON.parse((await httpGet(s, '/echo')).text), { method: 'GET', text: '', length: 0, used: false });
  t.equal(await post('/stream', 'abc'), 'ABC');
  t.equal(await post('/clone', 'abc'), 'abcabc');
  t.equal(await post('/form', 'a=1%202', { 'Content-Type': 'application/x-www-form-urlencoded' }), '1 2');
  const empty = await httpGet(s, '/empty');
  t.equal(empty.status, 204);
  t.equal(empty.header('Content-Length'), undefined);
  t.equal((await httpGet(s, '/nothing')).header('Content-Length'), '0');
  const not = await httpGet(s, '/not');
  t.equal(not.status, 304);
  t.equal(not.header('ETag'), '"x"');
  t.equal(await text('/bytes'), '200 hi');
  const redirect = await httpGet(s, '/redirect');
  t.equal(`${redirect.status} ${redirect.header('Location')}`, '302 http://example.com/');
  for (const path of ['/throws', '/rejects', '/none', '/bad', '/soon', '/patient']) {
    t.equal(await text(path), '500 ', path);
  }
  t.match((await httpGet(s, '/reason')).header('X-Reason'), /js exception: Error: on purpose/);
  t.equal(await text('/fetched'), `200 ${'packed'.repeat(100)}`);
  t.equal(await text('/isResponse'), '200 true,true,false,a,text/plain;charset=UTF-8');
  t.equal(await text('/later'), '200 early');
  await s.logged(/\[error\] .*js exception: Error: behind the answer/);
  await s.logged(/\[error\] .*js exception: Error: on purpose\\x0A {4}at .*web\.js:\d+:\d+/);
  await s.logged(/\[error\] .*js exception: Error: later/);
  await s.logged(/\[error\] .*js exception: TypeError: the handler has returned no Response/);
  await s.logged(/\[error\] .*js handler "web\.never" timed out/);
});

t.test('bodies that come slowly, and clients that leave', async (t) => {
  const s = await startServer(t, { conf, files: { 'web.js': web } });
  const client = await RawClient.connect(s);
  const slow = 'POST /stream HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n';
  for (const byte of slow) {
    client.socket.write(byte);
    await new Promise(setImmediate);
  }
  t.equal((await client.response()).text, 'ABCDE');
  const leaver = await RawClient.connect(s);
  leaver.send(requestText('GET', '/aborted'));
  await httpGet(s, '/bytes');
  leaver.destroy();
  await s.logged('js: client left');
  const broken = await RawClient.connect(s);
  broken.send(requestText('POST', '/stream', { 'Content-Length': '10' }, 'abc'));
  await httpGet(s, '/bytes');
  broken.destroy();
  await s.logged('client prematurely closed connection');
  const greedy = await RawClient.connect(s);
  greedy.send(requestText('GET', '/endless'));
  await greedy.take(4_000_000);
  t.equal((await httpGet(s, '/bytes')).text, 'hi', 'a stream that never waits lets others have their turn');
  greedy.destroy();
  await s.logged('js: cancelled');
  const reader = await RawClient.connect(s);
  reader.socket.pause();
  reader.send(requestText('GET', '/endless?paused'));
  await httpGet(s, '/bytes');
  reader.destroy();
  await s.logged('js: cancelled ?paused few');
  const half = await RawClient.connect(s);
  half.send(requestText('GET', '/broken'));
  await half.closed();
  t.match(half.received, 'begun');
  t.notMatch(half.received, '\r\n0\r\n\r\n');
  await s.logged(/js exception: Error: in the stream/);
  t.equal((await httpGet(s, '/bytes')).text, 'hi');
});

/** Targets, and the path and arguments that handlers get for them. The location is the one of that path. */
const targets: readonly (readonly [sent: string, seen: string])[] = [
  ['/app/x', '/app/x'],
  ['/app/a%2Fb?c=%2F', '/app/a%2Fb?c=%2F'],
  ['/app/a%20b', '/app/a%20b'],
  ['/app/..\\admin/x', '/app/..%5Cadmin/x'],
  ['/app/..%5Cadmin/x', '/app/..%5Cadmin/x'],
  ['\\/app/x', '400'],
  ['/admin/..%2fapp/x', '/app/x'],
  ['/admin/%2e%2e/app/x', '/app/x'],
  ['/admin/../app/x', '/app/x'],
  ['/admin//../app/x', '/app/x'],
  ['//admin/../app/x', '/app/x'],
  ['//app/x', '/app/x'],
  ['/app/%252e%252e/x', '/app/%252e%252e/x'],
  ['/app/x?a=1#/b', '/app/x?a=1'],
  ['/app/\xc3\xa9?\xc3', '/app/%C3%A9?%C3'],
  ['/to/../admin/x', '/admin/x'],
  ['/to/%2e%2e%2fadmin%2fx', '/admin/x'],
  ['/dots/x', '/app%2F..%2Fadmin/x'],
  ['/bare/.evil.example/x', '/.evil.example/x'],
];
const paths = `
module.exports = {
  web: (request, env) => new Response(new URL(request.url).pathname + new URL(request.url).search),
  host: (request) => new Response(new URL(request.url).host + ' ' + request.headers.get('host')),
  node: (req, res) => res.end(req.url),
  nodeHost: (req, res) => res.end(new URL(req.url, 'http://' + req.headers.host).host + ' ' + req.headers.host),
};`;

t.test('the path and the host that handlers get are those by which they were chosen', async (t) => {
  const server = (port: number, kind: string, host: string, more: string): string => `server {
    listen 127.0.0.1:%%PORT_${port}%%; ${more}
    location / { ${kind}; add_header X-Location other always; }
    location /app { ${kind}; add_header X-Location app always; }
    location /admin { ${kind}; add_header X-Location admin always; }
    location /dots { rewrite ^ /app/../admin/x break; ${kind}; }
    location /bare { rewrite ^/bare/(.*) $1 break; ${kind}; }
    location /host { ${host}; }
  }`;
  const s = await startServer(t, {
    conf: httpConf(`js_import p from p.js;
    ${server(0, 'js_content p.web fetch', 'js_content p.host fetch', '')} ${server(1, 'node_handler p.node', 'node_handler p.nodeHost', '')}
    ${server(2, 'js_content p.web fetch', 'js_content p.host fetch', 'js_isolation thread threads=1;')}`),
    files: { 'p.js': paths },
  });
  for (const port of [s.port(0), s.port(1), s.port(2)]) {
    for (const [sent, seen] of targets) {
      const answer = await http(port, `GET ${sent} HTTP/1.0\r\nHost: a\r\n\r\n`);
      t.equal(answer.status === 400 ? '400' : answer.text, seen, `${port} ${sent}`);
      if (answer.status === 200 && !/^.(dots|bare)/.test(sent)) {
        t.equal(answer.header('X-Location'), /^\/(app|admin)/.exec(seen)?.[1] ?? 'other');
      }
    }
    const host = async (name: string, target = '/host'): Promise<string> => {
      const { status, text } = await http(port, `GET ${target} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
      return status === 200 ? text : String(status);
    };
    t.equal(await host('Example.com:81'), 'example.com:81 Example.com:81');
    t.equal(await host('[::1]'), '[::1] [::1]');
    t.equal(await host('127.0.0.1'), '127.0.0.1 127.0.0.1');
    t.equal(await host('other', 'http://one:82/host'), 'one:82 one:82');
    for (const bad of ['1.2.3.999', '%61dmin', '2130706433', '[::zz]', 'a%zz', '0x7f.1']) {
      t.equal(await host(bad), '400', bad);
    }
    await s.logged('client sent invalid host header');
  }
  const method = await http(s.port(2), 'TRACK /host HTTP/1.0\r\n\r\n');
  t.equal(method.status, 405);
});

t.test('applications of frameworks', async (t) => {
  const files = {
    'hono.ts': `${using('hono')}
import type { Context } from 'hono';
const app = new hono.Hono();
app.use('*', async (c: Context, next: () => Promise<void>) => { await next(); c.res.headers.set('x-after', 'yes'); });
app.get('/hono/:name', (c: Context) => c.text('hi ' + c.req.param('name')));
app.post('/hono/json', async (c: Context) => c.json({ got: await c.req.json(), agent: c.req.header('user-agent') ?? null }));
app.onError((error: Error, c: Context) => c.text('caught ' + error.message, 500));
app.get('/hono/x/throw', () => { throw new Error('inside'); });
export default app;`,
    'itty.js': `${using('itty-router')}
const router = itty_router.AutoRouter();
router.get('/itty/:name', ({ params, query }) => ({ name: params.name, q: query.q }));
module.exports = router;`,
    'express.js': `${using('express')}
const app = express().set('env', 'test');
app.use(express.json());
app.get('/express/:name', (req, res) => { res.cookie('a', '1'); res.cookie('b', '2'); res.send('hi ' + req.params.name + req.ip + req.protocol); });
app.post('/express/json', (req, res) => res.status(201).json({ got: req.body }));
app.get('/express/x/throw', () => { throw new Error('inside'); });
app.get('/express/x/file', (req, res) => res.sendFile(__filename));
app.get('/express/x/pieces', async (req, res) => { for (let i = 0; i < 40; i++) { if (!res.write(Buffer.alloc(10000, 97))) { await new Promise((done) => res.once('drain', done)); } } res.end(); });
app.get('/express/x/twice', (req, res) => { res.send('first'); res.write('second'); });
module.exports = app;`,
    'fastify.js': `${using('fastify')}
const app = fastify();
app.get('/fastify/:name', async (request, reply) => { reply.header('x-a', 'b'); return { hi: request.params.name }; });
app.post('/fastify/json', async (request) => ({ got: request.body }));
app.get('/fastify/x/throw', async () => { throw new Error('inside'); });
module.exports = app;`,
    'plain.js': `module.exports = {
  hello(req, res) { res.writeHead(202, { 'X-B': ['1', '2'], 'Content-Type': 'text/x' }); res.end(req.method + ' ' + req.url + ' ' + req.httpVersion + ' ' + req.headers['x-a']); },
  echo(req, res) { req.pipe(res); },
  throws() { throw new Error('bare'); },
  never() {},
  gone(req, res) { res.on('close', () => console.error('closed ' + res.writableEnded)); },
};`,
  };
  const s = await startServer(t, {
    conf: serverConf(
      `location /hono { js_content hono; }
       location /itty { js_content itty; }
       location /express { node_handler express; }
       location /fastify { node_handler fastify; }
       location /plain { node_handler plain.hello; }
       location /echo { node_handler plain.echo; }
       location /throws { node_handler plain.throws; }
       location /never { js_timeout 20ms; node_handler plain.never; }
       location /gone { node_handler plain.gone; }`,
      'js_import hono from hono.ts; js_import itty.js; js_import express.js; js_import fastify.js; js_import plain.js;',
    ),
    files,
    asRoot: true,
  });
  const get = async (path: string): Promise<string> => (await httpGet(s, path)).text;
  const post = (path: string, body: string) =>
    http(s, requestText('POST', path, { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }, body));
  const hono = await httpGet(s, '/hono/you');
  t.equal(`${hono.text} ${hono.header('x-after')}`, 'hi you yes');
  t.equal((await post('/hono/json', '{"a":1}')).text, '{"got":{"a":1},"agent":null}');
  t.equal(await get('/hono/x/throw'), 'caught inside');
  t.equal((await httpGet(s, '/hono')).status, 404);
  t.equal(await get('/itty/me?q=1'), '{"name":"me","q":"1"}');
  const express = await httpGet(s, '/express/you');
  t.equal(express.text, 'hi you127.0.0.1http');
  t.match(express.head, /\r\nSet-Cookie: a=1; Path=\/\r\nSet-Cookie: b=2; Path=\/\r\n/);
  const created = await post('/express/json', '{"a":1}');
  t.equal(`${created.status} ${created.text}`, '201 {"got":{"a":1}}');
  t.equal((await httpGet(s, '/express/x/throw')).status, 500);
  t.match(await get('/express/x/file'), 'sendFile(__filename)');
  t.equal((await get('/express/x/pieces')).length, 400_000);
  t.equal(await get('/express/x/twice'), 'first');
  await s.logged('js handler writes after the end of its answer');
  t.equal((await httpGet(s, '/express')).status, 404);
  const fastify = await httpGet(s, '/fastify/you');
  t.equal(`${fastify.text} ${fastify.header('x-a')}`, '{"hi":"you"} b');
  t.equal((await post('/fastify/json', '{"a":1}')).text, '{"got":{"a":1}}');
  t.equal((await httpGet(s, '/fastify/x/throw')).status, 500);
  const plain = await http(s, requestText('GET', '/plain?q', { 'X-A': 'b' }));
  t.equal(plain.text, 'GET /plain?q 1.1 b');
  t.match(plain.head, /^HTTP\/1\.1 202 Accepted\r\n[\s\S]*X-B: 1\r\nX-B: 2\r\n/);
  const head = await http(s, requestText('HEAD', '/plain'));
  t.equal(head.text, '');
  const large = 'x'.repeat(300_000);
  t.equal((await post('/echo', large)).text, large);
  t.equal((await httpGet(s, '/throws')).status, 500);
  t.equal((await httpGet(s, '/never')).status, 500);
  await s.logged(/js exception: Error: bare\\x0A {4}at .*plain\.js:\d+/);
  const leaver = await RawClient.connect(s);
  leaver.send(requestText('GET', '/gone'));
  await get('/plain');
  leaver.destroy();
  await s.logged('js: closed false');
});

t.test('what -t says', async (t) => {
  t.match(await configMessage(t, serverConf('js_import a.js; location / { js_content a.b other; }')), 'unknown parameter "other"');
  t.match(await configMessage(t, serverConf('location / { node_handler a.b; }')), 'no imports defined for "node_handler" "a.b"');
  const tested = async (text: string, module: string): Promise<string> =>
    (await testConfig(t, serverConf(text), { 'a.js': module })).stderr;
  t.match(await tested('js_import a.js;', 'throw new Error("at load");'), /\[emerg\] js_import: Error: at load at .*a\.js:1/);
  const waits = 'setInterval(() => {}, 1000);\nexport default { f() {} };';
  t.match(await tested('js_import a.js; location / { js_content a.f fetch; }', waits), 'test is successful');
  t.match(await tested('js_import a.js; location / { js_content a.g fetch; }', waits), '[emerg] js handler "a.g" not found');
  t.match(await tested('js_import a.js; location / { node_handler a.g; }', waits), '[emerg] js handler "a.g" not found');
  const warned = await tested('js_import a.js; location / { js_content a.g; js_access a.h; }', waits);
  t.match(warned, '[warn] js function "a.g" not found');
  t.match(warned, '[warn] js function "a.h" not found');
  t.match(warned, 'test is successful');
});
