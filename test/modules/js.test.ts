import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

const api = `
import { createHash } from 'crypto';
import { greet } from 'lib/greet.js';
import typed from './typed.ts';

function hello(r) { r.headersOut['X-Name'] = ['a', 'b']; r.return(200, greet(r.args.name)); }
function stream(r) { r.status = 201; r.sendHeader(); for (const part of ['ä', 'b', 'c']) { r.send(part); } r.finish(); }
async function body(r) { await new Promise((done) => setTimeout(done, 1)); r.return(200, r.requestText.length + r.method); }
async function sub(r) {
  const replies = await Promise.all([r.subrequest('/hello', 'name=x'), r.subrequest('/echo', { method: 'POST', body: 'ü' })]);
  r.return(200, replies.map((reply) => reply.status + reply.responseText).join());
}
function echo(r) { r.return(200, r.method + r.requestText); }
function nothing(r) {}
function throws(r) { throw new Error('on purpose'); }
async function rejects(r) { await null; throw new Error('later'); }
function timer(r) { setTimeout(() => { throw new Error('in a timer'); }, 1); }
function never(r) { setTimeout(() => r.return(200), 3600000); }
function twice(r) { r.return(200, 'first'); r.return(500); try { r.return(500, 'second'); } catch (e) { r.error("twice: " + e.message); } }
function where(r) { r.internalRedirect('/hello?name=moved'); }
function refuse(r) { if (r.args.key !== 'k') { r.return(403); } else { r.variables.who = 'friend'; } }
async function late(r) { await new Promise((done) => setTimeout(done, 1)); refuse(r); }
function who(r) { r.return(200, r.variables.who + r.variables.hash); }
function hash(r) { return createHash('md5').update(r.uri).digest('hex'); }
async function eager(r) { r.setReturnValue('soon'); await null; }
async function tardy(r) { await crypto.subtle.digest('SHA-256', Buffer.from('a')); r.setReturnValue('late'); }
async function failing() { await null; throw new Error('too late'); }
function values(r) { r.return(200, r.variables.eager + r.variables.tardy + r.variables.failing + typeof r.requestText + JSON.stringify(r).includes('requestText')); }
function heads(r) { delete r.headersOut['Content-Length']; r.headersOut['X-Was'] = String(r.status); }
function upper(r, data, flags) { r.sendBuffer(data.toUpperCase(), flags); if (flags.last) { r.sendBuffer('!', flags); } }
function count(r) { r.return(200, String(ngx.shared.counts.incr('n', 1))); }
function total(r) { r.return(200, String(ngx.shared.counts.get('n'))); }
function logs(r) { console.error('seen', { a: 1 }); r.warn('careful'); r.return(200, typed.twice(21)); }
async function form(r) { const f = await r.readRequestForm(); r.return(200, f.get('a') + f.getAll('a').length + f.hasFiles()); }
async function fetched(r) { const reply = await ngx.fetch('http://127.0.0.1:' + r.variables.server_port + '/hello?name=y'); r.return(reply.status, await reply.text()); }
export default { hello, stream, body, sub, echo, nothing, throws, rejects, timer, never, twice, where, refuse, late, who, hash, eager, tardy, failing, values, heads, upper, count, total, logs, form, fetched };
`;
const files = {
  'js/api.js': api,
  'js/typed.ts': 'const twice = (n: number): string => String(n * 2);\nexport default { twice };\n',
  'js/lib/greet.js': "exports.greet = (name) => 'hello ' + name;\n",
  'html/f': 'page',
};
const simple = [
  'hello',
  'stream',
  'body',
  'sub',
  'echo',
  'nothing',
  'throws',
  'rejects',
  'timer',
  'never',
  'twice',
  'where',
  'count',
  'total',
  'logs',
  'form',
  'fetched',
  'values',
];
const conf = (workers = 1): string =>
  httpConf(
    `
  js_path %%DIR%%/js;
  js_import api.js;
  js_shared_dict_zone zone=counts:32k type=number;
  js_set $hash api.hash;
  js_set $eager api.eager;
  js_set $tardy api.tardy;
  js_set $failing api.failing;
  js_var $who nobody;
  server {
    listen 127.0.0.1:%%PORT_0%%; root %%DIR%%/html; error_log %%DIR%%/error.log info;
    ${simple.map((name) => `location /${name} { js_content api.${name}; }`).join('\n    ')}
    location /guarded { js_access api.refuse; js_content api.who; }
    location /late { js_access api.late; js_content api.who; }
    location /f { js_header_filter api.heads; js_body_filter api.upper; }
    location /missing { js_content api.no_such; }
    location /var { return 200 $hash; }
  }`,
    `worker_processes ${workers};`,
  );

t.test('handlers', async (t) => {
  const s = await startServer(t, { conf: conf(), files, expectAlerts: /js unhandled rejection: Error: (?:later|too late)/ });
  const text = async (path: string): Promise<string> => {
    const { status, text: body } = await httpGet(s, path);
    return `${status} ${status === 500 ? '' : body}`;
  };
  const hello = await httpGet(s, '/hello?name=a%20b');
  t.equal(hello.text, 'hello a b');
  t.match(hello.head, /\r\nX-Name: a\r\nX-Name: b\r\n/);
  t.equal(await text('/stream'), `201 ${Buffer.from('äbc').toString('latin1')}`);
  t.equal((await http(s, requestText('POST', '/body', { 'Content-Length': '4' }, 'four'))).text, '4POST');
  t.equal(await text('/sub'), `200 200hello x,200POST${Buffer.from('ü').toString('latin1')}`);
  t.equal(await text('/nothing'), '500 ');
  t.equal(await text('/throws'), '500 ');
  t.equal(await text('/rejects'), '500 ');
  t.equal(await text('/timer'), '500 ');
  t.equal(await text('/missing'), '500 ');
  t.equal(await text('/twice'), '200 first');
  await s.logged('twice: failed to send response');
  t.equal(await text('/where'), '200 hello moved');
  t.equal((await httpGet(s, '/guarded')).status, 403);
  t.match(await text('/guarded?key=k'), /^200 friend[0-9a-f]{32}$/);
  t.equal((await httpGet(s, '/late')).status, 403);
  t.match(await text('/late?key=k'), /^200 friend/);
  t.equal(await text('/var'), '200 ca905eb4a00d34150573153a09e2e79b');
  t.equal(
    await text('/values'),
    '200 late[object Promise]undefinedfalse',
    'what promises set counts, as in njs; a request without a body has none',
  );
  const filtered = await httpGet(s, '/f');
  t.equal(filtered.text, 'PAGE!');
  t.equal(filtered.header('X-Was'), '200');
  t.equal(await text('/logs'), '200 42');
  t.equal(await text('/fetched'), '200 hello y');
  const posted = { 'Content-Length': '8', 'Content-Type': 'application/x-www-form-urlencoded' };
  t.equal((await http(s, requestText('POST', '/form', posted, 'a=1&a=%32'))).text, '12false');
  await s.stop();
  const log = s.read('error.log');
  t.match(log, /\[error\] .*js exception: Error: on purpose\\x0A {4}at .*api\.js:\d+:/);
  t.match(log, /\[error\] .*js unhandled rejection: Error: later/);
  t.match(log, /\[error\] .*js exception: Error: in a timer/);
  t.match(log, /\[error\] .*js function "api\.no_such" not found/);
  t.match(log, /\[error\] .*js: seen,/);
  t.match(log, /\[error\] .*js: {a:1},/);
  t.match(log, /\[warn\] .*js: careful/);
  t.match(log, /\[error\] .*js unhandled rejection: Error: too late/);
  t.notMatch(log, /async operation/);
});

t.test('a client that leaves ends its handler', async (t) => {
  const s = await startServer(t, { conf: conf(), files });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/never'));
  await httpGet(s, '/hello');
  client.destroy();
  t.equal((await httpGet(s, '/hello?name=z')).text, 'hello z');
  await s.stop();
});

t.test('a shared dictionary is exact over workers', async (t) => {
  const s = await startServer(t, { conf: conf(3), files });
  await Promise.all(Array.from({ length: 60 }, () => httpGet(s, '/count')));
  t.equal((await httpGet(s, '/total')).text, '60');
});

t.test('what -t says', async (t) => {
  const message = (text: string, inHttp = ''): Promise<string | undefined> => configMessage(t, serverConf(text, inHttp));
  t.match(String(await message('location / { js_content a.b; }')), 'no imports defined for "js_content" "a.b"');
  t.match(String(await message('js_import a.js; location / { js_content a.b; js_content a.c; }')), '"js_content" directive is duplicate');
  t.match(String(await message('js_import a-b.js;')), 'invalid character "-" in export name "a-b"');
  t.match(String(await message('', 'js_shared_dict_zone zone=a:1k;')), 'zone "zone=a:1k" is too small');
  t.match(String(await message('', 'js_shared_dict_zone zone=a:32k evict;')), 'evict requires timeout=');
  t.match(String(await message('js_import missing.js;')), 'js_import: Cannot find module "missing.js" in');
  const { stderr } = await testConfig(t, serverConf('js_import broken.js;'), { 'broken.js': 'export default { a: function( };' });
  t.match(stderr, /\[emerg\] js_import: .*Unexpected token/);
  t.match(String(await message('js_set x a.b;')), 'invalid variable name "x"');
});
