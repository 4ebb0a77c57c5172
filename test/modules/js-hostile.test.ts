import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { Http2Client, request } from '../support/http2-client.js';
import { exchange, http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

/** What JavaScript may come to write into a head: line ends and what else njs refuses. */
const BREAKS = { crlf: '%0D%0ASet-Cookie:%20x', lf: '%0AX-Evil:%201', nul: '%00', vt: '%0B', del: '%7F' };

const splitting = `
const text = (r) => 'a' + r.args.v;
const redirect = (r) => r.return(302, text(r));
const permanent = (r) => r.return(308, text(r));
const headers = (r) => { r.headersOut['X-A'] = ['fine', text(r)]; r.return(200); };
const place = (r) => { r.headersOut.Location = text(r); r.return(200); };
const cookie = (r) => { r.headersOut['Set-Cookie'] = text(r); r.return(200); };
const type = (r) => { r.headersOut['Content-Type'] = text(r); r.return(200); };
const name = (r) => { r.headersOut[text(r)] = 'x'; r.return(200); };
const state = (r) => { r.status = '200 X' + r.args.v; r.sendHeader(); r.finish(); };
const filter = (r) => { r.headersOut['X-A'] = text(r); };
const value = (r) => text(r);
async function method(r) { const { status } = await r.subrequest('/behind', { method: 'GET' + r.args.v }); r.return(status); }
const fetched = (text) => text;
const web = (make) => (req) => make('a' + new URL(req.url).searchParams.get('v'));
const node = (run) => (req, res) => { run(res, 'a' + new URL(req.url, 'http://a').searchParams.get('v')); res.end('ok'); };
class Liar extends Response { constructor(v) { super('x'); this.v = v; } get headers() { return new Map([['x-a', this.v]]); } get statusText() { return this.v; } }
export default {
  redirect, permanent, headers, place, cookie, type, name, state, filter, value, method,
  fetchHeader: web((v) => new Response('x', { headers: { 'X-A': v } })),
  fetchList: web((v) => new Response('x', { headers: [['X-A', 'fine'], ['Set-Cookie', v]] })),
  fetchReason: web((v) => new Response('x', { statusText: v })),
  fetchPlace: web((v) => new Response(null, { status: 302, headers: { Location: v } })),
  fetchLater: web(async (v) => { const r = new Response('x'); r.headers.set('X-A', v); return r; }),
  fetchLiar: web((v) => new Liar(v)),
  nodeSet: node((res, v) => res.setHeader('X-A', v)),
  nodeHead: node((res, v) => res.writeHead(200, { Location: v })),
  nodeList: node((res, v) => res.writeHead(200, ['X-A', v])),
  nodeReason: node((res, v) => { res.statusMessage = v; }),
  nodeReasonTwice: node((res, v) => { let n = 0; res.statusMessage = { toString: () => (n++ === 0 ? 'OK' : v) }; }),
  nodeStatus: node((res, v) => { res.writeHead(200); res.statusCode = '200 ' + v; }),
  nodeHints: node((res, v) => res.writeEarlyHints({ link: v })),
  nodeHintsName: node((res, v) => res.writeEarlyHints({ [v]: 'x' })),
  nodeTrailer: node((res, v) => res.addTrailers({ 'X-A': v })),
  nodeGetter: node((res, v) => { res.setHeader('X-A', 'fine'); res.getHeader = () => v; }),
};
`;
const njsWays = ['redirect', 'permanent', 'headers', 'place', 'cookie', 'type', 'name', 'state'];
const fetchWays = ['fetchHeader', 'fetchList', 'fetchReason', 'fetchPlace', 'fetchLater', 'fetchLiar'];
const nodeWays = [
  'nodeSet',
  'nodeHead',
  'nodeList',
  'nodeReason',
  'nodeReasonTwice',
  'nodeStatus',
  'nodeHints',
  'nodeHintsName',
  'nodeTrailer',
  'nodeGetter',
];
const splittingConf = `
  js_path %%DIR%%; js_import a.js; js_set $value a.value; js_var $given;
  server {
    listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%%; http2 on; root %%DIR%%/html;
    ${njsWays.map((name) => `location /${name} { js_content a.${name}; }`).join('\n    ')}
    ${fetchWays.map((name) => `location /${name} { js_content a.${name} fetch; }`).join('\n    ')}
    ${nodeWays.map((name) => `location /${name} { node_handler a.${name}; }`).join('\n    ')}
    location /isolated/ { js_isolation thread threads=1; ${fetchWays.map((name) => `location /isolated/${name} { js_content a.${name} fetch; }`).join(' ')} }
    location /filter { js_header_filter a.filter; return 200 ok; }
    location /method { js_content a.method; }
    location /behind { proxy_pass http://127.0.0.1:%%PORT_2%%; }
    location /added { add_header X-A $value; add_trailer X-B $value; return 200 ok; }
    location /returned { return 302 $value; }
    location /rewritten { rewrite ^ /$value redirect; }
    location /passed { proxy_set_header X-A $value; proxy_pass http://127.0.0.1:%%PORT_2%%/$value; }
  }
  server { listen 127.0.0.1:%%PORT_2%%; location / { return 200 "$request|$http_x_a|$http_x_evil"; } }`;

t.test('JavaScript cannot split a head', async (t) => {
  const s = await startServer(t, { conf: httpConf(splittingConf), files: { 'a.js': splitting, 'html/f': 'x' } });
  const h2 = await Http2Client.connect(t, s.port(1));
  let stream = 1;
  const isolated = fetchWays.map((name) => `isolated/${name}`);
  for (const [name, bytes] of Object.entries(BREAKS)) {
    for (const way of [...njsWays, ...fetchWays, ...isolated, ...nodeWays]) {
      const path = `/${way}?v=${bytes}`;
      const answer = await http(s, requestText('GET', path));
      const over2 = await h2.request(stream, request('GET', path)).response(stream);
      stream += 2;
      t.equal(`${answer.status} ${over2.status}`, '500 500', path);
      t.notMatch(answer.head, /[\r\n](?:set-cookie|x-evil)|[\0\v\x7f]/i, `${name} by ${way}`);
    }
    // As in njs, there is no answer in place of the one that a filter has refused.
    t.equal(await exchange(s, requestText('GET', `/filter?v=${bytes}`)), '');
    t.equal((await h2.request(stream, request('GET', `/filter?v=${bytes}`)).response(stream)).status, '');
    stream += 2;
    const sent = await httpGet(s, `/method?v=${bytes}`);
    t.equal(sent.status, 400, 'a backend refuses such a method');
    for (const way of ['added', 'returned', 'rewritten', 'passed']) {
      const answer = await exchange(s, requestText('GET', `/${way}?v=${bytes}`, { Connection: 'close' }));
      t.notMatch(answer, /\n(?:Set-Cookie|X-Evil):/i, `${name} by ${way}`);
      t.notMatch(answer.slice(0, answer.indexOf('\r\n\r\n')), /\0/);
    }
  }
  t.equal((await httpGet(s, '/redirect?v=b%09%C3%A9')).header('Location'), `ab\t${Buffer.from('é').toString('latin1')}`);
  await s.stop();
  const log = s.read('error.log');
  t.match(log, /\[error\] .*js exception: TypeError: invalid header value\\x0A {4}at redirect \(.*a\.js:\d+/);
  t.match(log, /\[error\] .*js exception: TypeError: invalid header name\\x0A {4}at name /);
  t.match(log, /\[error\] .*js exception: TypeError: invalid number\\x0A {4}at state /);
});

const throwing = `
import fs from 'fs';
import net from 'net';
import { setTimeout as later, setInterval as often } from 'timers';
import { EventEmitter } from 'events';
const ways = {
  timer: () => { later(() => { throw new Error('timer'); }, 1); },
  interval: () => { const t = often(() => { clearInterval(t); throw new Error('interval'); }, 1); },
  immediate: () => { setImmediate(() => { throw new Error('immediate'); }); },
  tick: () => { process.nextTick(() => { throw new Error('tick'); }); },
  microtask: () => { queueMicrotask(() => { throw new Error('microtask'); }); },
  rejection: () => { Promise.reject(new Error('rejection')); },
  callback: () => { fs.readFile('/dev/null', () => { throw new Error('callback'); }); },
  file: () => { fs.createReadStream('/nowhere/file').resume(); },
  emitter: () => { later(() => new EventEmitter().emit('error', new Error('emitter')), 1); },
  socket: () => { net.connect({ path: '/nowhere/socket' }); },
  target: () => { const t = new EventTarget(); t.addEventListener('x', () => { throw new Error('target'); }); t.dispatchEvent(new Event('x')); },
  bare: () => { later(() => { throw Object.create(null); }, 1); },
  liar: () => { later(() => { throw Object.defineProperty(new Error(), 'stack', { get() { throw new Error('liar'); } }); }, 1); },
};
const way = (path) => ways[path.split('/').at(-1).replace(/\\?.*/, '')];
const never = () => new Promise(() => {});
function njs(r) { way(r.uri)(); return never(); }
function njsSent(r) { r.sendHeader(); r.send('begun'); way(r.uri)(); return never(); }
function access(r) { way(r.uri)(); return never(); }
const fetchIt = (req) => { way(new URL(req.url).pathname)(); return never(); };
const fetchSent = (req) => new Response(new ReadableStream({
  start(c) { c.enqueue(new TextEncoder().encode('begun')); },
  pull() { way(new URL(req.url).pathname)(); return never(); },
}, { highWaterMark: 0 }));
const fetchAfter = (req, env, context) => { context.waitUntil((async () => { await null; way(new URL(req.url).pathname)(); })()); return new Response('fine'); };
const node = (req, res) => { way(req.url)(); };
const nodeSent = (req, res) => { res.write('begun'); way(req.url)(); };
const nodePipe = (req, res) => { fs.createReadStream('/missing').pipe(res); };
const nodeFinish = (req, res) => { for (const event of ['finish', 'close']) { res.on(event, () => { throw new Error('on ' + event); }); } res.end('fine'); };
const nodeWritten = (req, res) => { res.write('a', () => { throw new Error('on written'); }); };
const nodeBody = (req, res) => { req.on('data', () => { throw new Error('on data'); }); };
const nodeLeft = (req, res) => { req.on('aborted', () => { throw new Error('on aborted'); }); res.write('begun'); };
const fetchLeft = (req) => { req.signal.addEventListener('abort', () => { throw new Error('on abort'); }); return new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array(1)); }, cancel() { later(() => { throw new Error('after cancel'); }, 1); } })); };
function value() { later(() => { throw new Error('value'); }, 1); return 'v'; }
const text = () => ({ toString() { throw new Error('no text'); } });
let rounds = 0;
function periodic() { rounds++; const names = Object.keys(ways); ways[names[rounds % names.length]](); return never(); }
const count = (r) => r.return(200, String(rounds));
const worker = (r) => r.return(200, String(process.pid));
export default { ways: Object.keys(ways), njs, njsSent, access, fetchIt, fetchSent, fetchAfter, node, nodeSent, nodePipe, nodeFinish, nodeWritten, nodeBody, nodeLeft, fetchLeft, value, text, periodic, count, worker };
`;
const WAYS = [
  'timer',
  'interval',
  'immediate',
  'tick',
  'microtask',
  'rejection',
  'callback',
  'file',
  'emitter',
  'socket',
  'target',
  'bare',
  'liar',
];

t.test('what callbacks throw costs their request alone', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
  js_path %%DIR%%; js_import a.js; js_set $value a.value; js_set $text a.text;
  server {
    listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%%; http2 on; root %%DIR%%/html;
    ${['njs', 'njsSent'].map((name) => `location /${name}/ { js_content a.${name}; }`).join('\n    ')}
    ${['fetchIt', 'fetchSent', 'fetchAfter'].map((name) => `location /${name}/ { js_content a.${name} fetch; }`).join('\n    ')}
    ${['fetchIt', 'fetchSent'].map((name) => `location /apart/${name}/ { js_isolation thread threads=1; js_content a.${name} fetch; }`).join('\n    ')}
    ${['node', 'nodeSent'].map((name) => `location /${name}/ { node_handler a.${name}; }`).join('\n    ')}
    ${['nodePipe', 'nodeFinish', 'nodeWritten', 'nodeBody', 'nodeLeft'].map((name) => `location = /${name} { node_handler a.${name}; }`).join('\n    ')}
    location /access/ { js_access a.access; }
    location = /fetchLeft { js_content a.fetchLeft fetch; }
    location = /value { return 200 $value; }
    location = /text { return 200 [$text]; }
    location = /worker { js_content a.worker; }
  }`),
    files: { 'a.js': throwing },
    expectAlerts: /js unhandled rejection: Error: rejection/,
  });
  const { text: worker } = await httpGet(s, '/worker');
  const h2 = await Http2Client.connect(t, s.port(1));
  let stream = 1;
  for (const way of WAYS) {
    for (const handler of ['njs', 'access', 'fetchIt', 'apart/fetchIt', 'node']) {
      const path = `/${handler}/${way}`;
      const over2 = await h2.request(stream, request('GET', path)).response(stream);
      stream += 2;
      t.equal(`${(await httpGet(s, path)).status} ${over2.status}`, '500 500', path);
    }
    for (const handler of ['njsSent', 'fetchSent', 'apart/fetchSent', 'nodeSent']) {
      const path = `/${handler}/${way}`;
      const cut = await exchange(s, requestText('GET', path));
      t.match(cut, /^HTTP\/1\.1 200 /, path);
      t.notMatch(cut, /\r\n0\r\n\r\n$/, `${path} is cut off`);
      const over2 = await h2.request(stream, request('GET', path)).response(stream);
      stream += 2;
      t.equal(`${over2.status} ${over2.reset === undefined}`, '200 false', `${path} over HTTP/2`);
    }
    t.equal((await httpGet(s, `/fetchAfter/${way}`)).text, 'fine');
  }
  t.equal((await httpGet(s, '/nodePipe')).status, 500);
  t.equal((await httpGet(s, '/nodeFinish')).text, 'fine');
  t.notMatch(await exchange(s, requestText('GET', '/nodeWritten')), /\r\n0\r\n\r\n$/);
  t.equal((await http(s, requestText('POST', '/nodeBody', { 'Content-Length': '4' }, 'four'))).status, 500);
  for (const path of ['/nodeLeft', '/fetchLeft']) {
    const client = await RawClient.connect(s);
    client.send(requestText('GET', path));
    await client.until('\r\n\r\n');
    client.destroy(true);
  }
  t.equal((await httpGet(s, '/value')).text, 'v');
  t.equal((await httpGet(s, '/text')).text, '[]');
  for (const event of [
    'on finish',
    'on close',
    'on written',
    'on data',
    'on aborted',
    'on abort',
    'after cancel',
    'no text',
    'value',
    ...WAYS.slice(0, 7),
  ]) {
    await s.logged(new RegExp(`\\[error\\] .*js (?:exception|unhandled rejection): Error: ${event}\\\\x0A {4}at .*a\\.js:\\d+`));
  }
  await s.logged(/js exception: Error: ENOENT: no such file or directory, open '\/missing'/);
  await s.logged('js exception: an exception that has no text');
  t.equal((await httpGet(s, '/worker')).text, worker, 'the worker has served it all');
});

const thenables = `
const all = {
  throws: () => ({ then() { throw new Error('then'); } }),
  rejects: () => ({ then(done, failed) { failed(new Error('then')); } }),
  getter: () => ({ get then() { throw new Error('then'); } }),
  own: () => Object.defineProperty(Promise.resolve(), 'then', { value() { throw new Error('then'); } }),
  kind: () => Object.defineProperty(Promise.resolve(), 'constructor', { get() { throw new Error('then'); } }),
};
const chosen = (path) => all[path.split('/').at(-1)]();
export default { names: Object.keys(all), njs: (r) => chosen(r.uri), web: (req) => chosen(new URL(req.url).pathname), node: (req) => chosen(req.url), value: (r) => chosen(r.uri) };
`;

t.test('what is returned in place of a promise costs its request alone', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
  js_path %%DIR%%; js_import a.js; js_set $value a.value;
  server { listen 127.0.0.1:%%PORT_0%%;
    location /njs/ { js_content a.njs; } location /web/ { js_content a.web fetch; } location /node/ { node_handler a.node; }
    location /access/ { js_access a.njs; return 200; } location /value/ { add_header X-A $value; return 200 ok; } location /fine { return 200 fine; } }`),
    files: { 'a.js': thenables },
    expectAlerts: /js unhandled rejection: Error: then/,
  });
  const { pid } = s;
  const before = s.workers();
  for (const name of ['throws', 'rejects', 'getter', 'own']) {
    for (const way of ['njs', 'web', 'node']) {
      t.equal((await httpGet(s, `/${way}/${name}`)).status, 500, `${way} ${name}`);
    }
    for (const way of ['access', 'value']) {
      await exchange(s, requestText('GET', `/${way}/${name}`, { Connection: 'close' }));
    }
  }
  for (const way of ['njs', 'web']) {
    t.equal((await httpGet(s, `/${way}/kind`)).status, 500);
  }
  t.equal((await httpGet(s, '/fine')).text, 'fine');
  t.strictSame([s.pid, s.workers()], [pid, before], 'no worker has ended');
  await s.logged(/\[error\] .*js exception: Error: then/);
});

t.test('what periodic functions and sessions throw costs them alone', async (t) => {
  const conf = httpConf(`
  server { listen 127.0.0.1:%%PORT_0%%; js_import a.js; location /count { js_content a.count; } location /worker { js_content a.worker; }
    location @p { js_periodic a.periodic interval=2ms; } }`);
  const s = await startServer(t, {
    conf: `${conf}
stream { js_import b.js; js_set $v b.value; error_log %%DIR%%/error.log info;
  server { listen 127.0.0.1:%%PORT_1%%; js_preread b.preread; return x$v; }
  server { listen 127.0.0.1:%%PORT_2%%; js_filter b.filter; proxy_pass 127.0.0.1:%%PORT_0%%; }
  server { listen 127.0.0.1:%%PORT_3%%; js_access b.access; return x$v; } }`,
    expectAlerts: /js unhandled rejection: Error: rejection/,
    files: {
      'a.js': throwing,
      'b.js': `
import { setTimeout as later } from 'timers';
const fails = (what) => later(() => { throw new Error(what); }, 1);
function preread(s) { s.on('upload', (data) => data.length > 0 && fails('preread')); }
function access(s) { fails('access'); return new Promise(() => {}); }
function filter(s) { s.on('upload', (data, flags) => { s.send(data, flags); fails('filter'); }); }
function value(s) { fails('value'); return '!'; }
export default { preread, access, filter, value };`,
    },
  });
  const { text: worker } = await httpGet(s, '/worker');
  t.equal(await exchange(s.port(3), ''), '');
  await s.logged(/\[error\] .*js exception: Error: access/);
  t.equal(await exchange(s.port(1), 'some'), '');
  await s.logged(/\[error\] .*js exception: Error: preread/);
  const cut = await RawClient.connect(s.port(2));
  cut.send('GET / HTTP/1.1\r\n');
  await s.logged(/\[error\] .*js exception: Error: filter/);
  await cut.closed();
  await waitFor(async () => Number((await httpGet(s, '/count')).text) > 2 * WAYS.length);
  await s.logged(/\[error\] .*js exception: Error: emitter/);
  t.equal((await httpGet(s, '/worker')).text, worker, 'the worker has served it all');
});

const statuses = `
const of = (req) => { const [, way, text] = new URL(req.url, 'http://x').pathname.slice(1).split('/'); return { way, status: text === 'text' ? '200' : Number(text) }; };
const web = (req) => {
  const { way, status } = of(req);
  return way === 'error' ? Response.error() : Object.defineProperty(new Response('GET /'), 'status', { value: status });
};
const node = (req, res) => { res.statusCode = of(req).status; res.end('GET /'); };
export default { web, node };
`;

t.test('a response that ends its exchange has a final status, whatever a script says', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
  js_path %%DIR%%; js_import a.js;
  server { listen 127.0.0.1:%%PORT_0%%; http2 on;
    location /web/ { js_content a.web fetch; } location /node/ { node_handler a.node; }
    location /apart/ { js_isolation thread; js_content a.web fetch; } }`),
    files: { 'a.js': statuses },
  });
  for (const path of ['error/0', 'own/0', 'own/100', 'own/101', 'own/199', 'own/1000', 'own/NaN', 'own/text']) {
    for (const way of path.startsWith('error') ? ['web', 'apart'] : ['web', 'apart', ...(path === 'own/text' ? [] : ['node'])]) {
      t.equal((await httpGet(s, `/${way}/${path}`)).status, 500, `${way} ${path}`);
    }
  }
  for (const way of ['web', 'apart', 'node']) {
    t.equal((await httpGet(s, `/${way}/own/299`)).status, 299, way);
  }
});
