import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, startServer } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

// Each answer is that of nginx 1.31.5 with njs 1.0.1.

const script = `
function args(r) { const values = Object.values(r.args).flat(); r.return(200, [Object.keys(r.args).length, values.length, values.at(-1)].join()); }
function body(r) { r.return(200, JSON.stringify([typeof r.requestText, r.requestText, typeof r.requestBuffer])); }
async function given(r) { r.return(200, (await r.subrequest('/body', { method: 'POST', body: r.args.b })).responseText); }
function heads(r) { r.return(200, JSON.stringify([Object.entries(r.headersIn).filter(([name]) => /^(?:cookie|x)/i.test(name)), r.headersIn['X-A'], r.rawHeadersIn.length, r.rawHeadersIn === r.rawHeadersIn])); }
function room(r) {
  const { shared: { d } } = ngx;
  const before = d.freeSpace();
  for (let i = 0; i < 50; i++) { d.set('k' + i, 'value'); }
  const full = d.freeSpace();
  for (let i = 0; i < 50; i++) { d.set('k' + i, 'other'); }
  const same = d.freeSpace();
  d.pop('k0'); d.delete('k1');
  const less = d.freeSpace();
  d.clear();
  r.return(200, [full < before, same === full, less > full, d.freeSpace() === before].join());
}
export default { args, body, given, heads, room };
`;
const plain = ['args', 'body', 'given', 'heads', 'room'];

t.test('what a client sends is read as by njs', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
  js_path %%DIR%%; js_import a.js; js_shared_dict_zone zone=d:64k; large_client_header_buffers 4 64k;
  server { listen 127.0.0.1:%%PORT_0%%; ${plain.map((name) => `location /${name} { js_content a.${name}; }`).join(' ')} }`),
    files: { 'a.js': script },
  });
  const text = async (path: string): Promise<string> => (await httpGet(s, path)).text;
  t.equal(await text(`/args?${'a&'.repeat(1500)}`), '1,1000,');
  t.equal(await text(`/args?${Array.from({ length: 1500 }, (_, i) => `a${i}=${i}`).join('&')}`), '1000,1000,999');
  t.equal(await text(`/args?${'&'.repeat(1000)}a=1`), '0,0,');
  t.equal(await text(`/args?${'&'.repeat(999)}a=1`), '1,1,1');
  t.equal(await text('/args?a=1&b&a=2&=&a=%zz'), '3,5,');
  t.equal(await text('/body'), '["undefined",null,"undefined"]');
  t.equal((await http(s, requestText('POST', '/body', { 'Content-Length': '0' }))).text, '["string","","object"]');
  t.equal((await http(s, 'POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')).text, '["string","","object"]');
  t.equal((await http(s, requestText('POST', '/body', { 'Content-Length': '2' }, 'ab'))).text, '["string","ab","object"]');
  t.equal(await text('/given?b='), '["undefined",null,"undefined"]');
  t.equal(await text('/given?b=c'), '["string","c","object"]');
  const heads = 'GET /heads HTTP/1.1\r\nHost: a\r\nx-a: 1\r\nCookie: a\r\nX-A: 2\r\ncookie: b\r\nX-A: 3\r\nConnection: close\r\n\r\n';
  t.equal((await http(s, heads)).text, '[[["x-a","1, 2, 3"],["Cookie","a; b"]],"1, 2, 3",7,true]');
  t.equal(await text('/room'), 'true,true,true,true');
});

t.test('published programs find what they find in njs', async (t) => {
  const files = {
    'a.js': `
const tried = (f) => { try { return String(f()); } catch (e) { return e.name + ': ' + e.message; } };
const lines = (r, ...all) => r.return(200, all.map(tried).join('\\n'));
function counts(r) {
  const { shared: { n, s, timed } } = ngx;
  lines(r, () => n.incr('n'), () => n.get('n'), () => n.set('q', 5) === n, () => n.incr('q', 'x'), () => n.incr('q', null), () => n.incr('q', NaN), () => n.get('q'),
    () => n.incr('q', 1.5), () => n.incr('z', 1, 'x'), () => n.incr('z', 1, 10), () => s.set(null, 'v').get(''), () => { s.name = 'x'; }, () => String(s), () => JSON.stringify(s),
    () => timed.set('a', 'b', 'x'), () => timed.set('a', 'b', 0), () => s.keys('x'));
}
function facts(r) {
  lines(r, () => globalThis.ngx === ngx, () => typeof globalThis.njs.version, () => ngx.version.split('.').reduce((sum, n) => sum * 1000 + Number(n), 0) === ngx.version_number,
    () => ngx.error_log_path.replace(/.*\\//, ''), () => { ngx.version = 'x'; }, () => Object.prototype.toString.call(r), () => ngx.log('x', 'y'));
}
function variables(r) {
  const { variables: v } = r;
  lines(r, () => { v.nope = 'x'; }, () => { v.arg_z = 'x'; }, () => { v.nginx_version = 'x'; }, () => { v.unused = 'x'; }, () => { v.given = 'x'; return v.given; }, () => { v.GIVEN = null; return v.given; });
}
async function subrequests(r) {
  const all = [() => r.subrequest(), () => r.subrequest(''), () => r.subrequest('/../x'), () => r.subrequest('/echo', 5), () => r.subrequest('/echo', 'a', 5),
    () => r.subrequest('/echo', { detached: true }, () => 1), () => r.internalRedirect(''), () => r.internalRedirect()].map(tried);
  for (const options of ['a=1', { args: 'a=2' }, { args: null }]) { all.push((await r.subrequest('/echo?b=1', options)).responseText, (await r.subrequest('/echo', options)).responseText); }
  r.return(200, all.join('\\n'));
}
const echo = (r) => r.return(200, '[' + (r.variables.args ?? '') + ']');
const redirect = (r) => r.internalRedirect(r.args.u);
export default { counts, facts, variables, subrequests, echo, redirect };`,
    'last.js':
      'export default { table, held, f };\nvar table = { g: (r) => r.return(200, "g") }; let held = table;\nfunction f(r) { throw new Error("here"); }\n',
    'noted.js':
      'export default {table, f} /* all\n of it */ // and no more\n\n// Tables\nvar table = { x: 5 };\nfunction f(r) { r.return(200, String(noted.table.x)); }\nimport noted from "noted.js";\n',
    'one.js': 'function f(r) { r.return(200, "one" + made); } import "./side.js"; export default { f };',
    'side.js': 'globalThis.made = (globalThis.made ?? 0) + 1; const a = 1, b = 2, c = 3; export const k = [a < b, c > (2)];',
    'plain.js': 'const text = `\nexport default {`; exports.f = (r) => r.return(200, text + typeof require);',
  };
  const s = await startServer(t, {
    conf: httpConf(`
  js_path %%DIR%%; js_import a.js; js_import last.js; js_import one.js; js_import noted.js; js_import plain.js; js_var $given g;
  js_shared_dict_zone zone=n:32k type=number; js_shared_dict_zone zone=s:32k; js_shared_dict_zone zone=timed:32k timeout=60s;
  geo $unused { default 1; } log_format own '$given';
  server { listen 127.0.0.1:%%PORT_0%%;
    ${['counts', 'facts', 'variables', 'subrequests', 'echo', 'redirect'].map((name) => `location /${name} { js_content a.${name}; }`).join('\n    ')}
    location /noted { js_content noted.f; }
    location /last { js_content last.table.g; } location /held { js_content last.held.g; } location /where { js_content last.f; }
    location /one { js_content one.f; } location /plain { js_content plain.f; } }`),
    files,
    args: ['-e', 'error.log'],
  });
  const lines = async (path: string): Promise<string[]> => (await httpGet(s, path)).text.split('\n');
  t.strictSame(await lines('/counts'), [
    'TypeError: delta is not a number',
    'undefined',
    'true',
    'TypeError: delta is not a number',
    'TypeError: delta is not a number',
    'TypeError: delta is not a number',
    '5',
    '6.5',
    'TypeError: init value is not a number',
    '11',
    'v',
    "TypeError: Cannot assign to read only property 'name' of object '#<SharedDict>'",
    '[object SharedDict]',
    '{"capacity":32768,"name":"s","type":"string"}',
    'TypeError: timeout is not a number',
    'TypeError: timeout must be greater than or equal to 1',
    'TypeError: invalid number',
  ]);
  t.strictSame(await lines('/facts'), [
    'true',
    'string',
    'true',
    'error.log',
    "TypeError: Cannot assign to read only property 'version' of object '#<Object>'",
    '[object Request]',
    'TypeError: invalid number',
  ]);
  t.strictSame(await lines('/variables'), [
    'TypeError: variable not found',
    'TypeError: variable not found',
    'TypeError: variable is not writable',
    'TypeError: variable is not writable',
    'x',
    '',
  ]);
  t.strictSame(await lines('/subrequests'), [
    'TypeError: uri is empty',
    'TypeError: uri is empty',
    'TypeError: unsafe uri',
    'TypeError: failed to convert args',
    'TypeError: callback is not a function',
    'TypeError: detached flag and callback are mutually exclusive',
    'TypeError: uri is empty',
    'TypeError: uri is empty',
    ...['[b=1]', '[a=1]', '[b=1]', '[a=2]', '[b=1]', '[]'],
  ]);
  for (const [uri, answer] of [
    ['/echo?x=1', '200 [x=1]'],
    ['/echo/../x', '500'],
    ['/echo/%252e%252e/x', '500'],
    ['/echo%2500', '500'],
    ['/%2565cho', '200 []'],
    ['@nope', '500'],
  ] as const) {
    const { status, text } = await httpGet(s, `/redirect?u=${uri}`);
    t.equal(status === 200 ? `200 ${text}` : String(status), answer, uri);
  }
  await s.logged('unsafe URI "/echo/../x" was detected');
  t.strictSame(await lines('/noted'), ['5'], 'behind it there may be notes, and no semicolon');
  t.strictSame([await lines('/last'), await lines('/held')], [['g'], ['g']], 'an export may name what follows it');
  t.equal((await httpGet(s, '/where')).status, 500);
  await s.logged(/js exception: Error: here\\x0A {4}at f \(.*last\.js:3:\d+/);
  t.strictSame(await lines('/one'), ['one1']);
  t.strictSame(await lines('/plain'), ['', 'export default {function']);
});

t.test('a subrequest whose backend breaks off has what came', async (t) => {
  const backend = await startTcpBackend(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 11\r\n\r\nwhat'));
  });
  const s = await startServer(t, {
    conf: httpConf(`
  js_path %%DIR%%; js_import a.js;
  server { listen 127.0.0.1:%%PORT_0%%;
    location /asks { js_content a.asks; }
    location /calls { js_content a.calls; }
    location /part { proxy_pass http://127.0.0.1:${backend.port}; }
    location /part/unbuffered { proxy_pass http://127.0.0.1:${backend.port}; proxy_buffering off; } }`),
    files: {
      'a.js': `
const answer = (r, reply) => r.return(200, [reply.status, reply.headersOut['Content-Length'], reply.responseText, reply.responseBuffer.length].join());
const asks = async (r) => answer(r, await r.subrequest(r.args.u));
const calls = (r) => { r.subrequest(r.args.u, (reply) => answer(r, reply)); };
export default { asks, calls };`,
    },
  });
  for (const path of ['/asks?u=/part', '/calls?u=/part', '/asks?u=/part/unbuffered', '/calls?u=/part/unbuffered']) {
    t.equal((await httpGet(s, path)).text, '404,11,what,4', path);
  }
});

t.test('what -t says of modules', async (t) => {
  const said = async (module: string): Promise<string> => {
    const { stderr } = await testConfig(t, httpConf('\njs_import m.js;\nserver { location / { js_content m.f; } }'), { 'm.js': module });
    return stderr;
  };
  const broken = await said('const a = 1;\nfunction f(r) {\n  let b = ;\n}\nexport default { f };\n');
  t.match(broken, /\[emerg\] .*js_import: Unexpected token ';' in .*m\.js:3: let b = ; in .*sluice\.conf:\d+\n.*js_import m\.js;/);
  t.match(
    await said('let x = 1; let x = 2; export default { f() {} };'),
    /Identifier 'x' has already been declared in .*m\.js:1: let x = 1;/,
  );
  t.match(await said('exports.f = () => {\n'), /Unexpected end of input in .*m\.js:\d/);
  t.match(
    await said('import x from "./nowhere.js"; export default { f() {} };'),
    /\[emerg\] .*js_import: Error: Cannot find module '\.\/nowhere\.js'/,
  );
  t.match(
    await said('const f = () => {}; export default { f, g: globalThis.nothing };'),
    /\[warn\] .*"g" of js module "m" is undefined once/,
  );
  t.notMatch(await said('const f = () => {}; export default { f, g };\nvar g = 1;'), /\[warn\]/);
});

t.test('memory that short Buffers share with the process is not sent', async (t) => {
  const bodies = {
    memory: "Buffer.from('abc').buffer",
    view: "new Uint8Array(Buffer.from('abc').buffer)",
    part: "(({ buffer, byteOffset, length }) => new Uint8Array(buffer, byteOffset, length))(Buffer.from('abc'))",
    own: "new TextEncoder().encode('abc').buffer",
    long: "Buffer.alloc(100000, 'abc').buffer",
    native: "((memory) => (markAsUntransferable(memory), Buffer.from(memory)))(new TextEncoder().encode('abc').buffer)",
  };
  const s = await startServer(t, {
    conf: httpConf(`
  js_path %%DIR%%; js_import a.js;
  server { listen 127.0.0.1:%%PORT_0%%; ${Object.keys(bodies)
    .map((name) => `location /${name} { js_content a.${name}; }`)
    .join(' ')} }`),
    files: {
      // Node marks the memory that a native package has made as it marks its own.
      'a.js': `import { markAsUntransferable } from 'node:worker_threads';
export default { ${Object.entries(bodies)
        .map(([name, body]) => `${name}(r) { r.return(200, ${body}); }`)
        .join(', ')} };`,
    },
  });
  for (const path of ['/memory', '/view']) {
    t.equal((await httpGet(s, path)).status, 500);
    await s.logged('js exception: TypeError: the "buffer" of a short Buffer holds bytes of others: give the Buffer itself');
  }
  t.equal((await httpGet(s, '/part')).text, 'abc');
  t.equal((await httpGet(s, '/own')).text, 'abc');
  t.equal((await httpGet(s, '/native')).text, 'abc');
  t.equal((await httpGet(s, '/long')).body.length, 100_000);
});
