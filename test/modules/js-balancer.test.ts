import { connect } from 'node:http2';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs, pem } from '../support/certs.js';
import { startOrigin } from '../support/origin.js';
import { exchange, httpGet } from '../support/raw-client.js';
import { runCli, testConfig } from '../support/run-cli.js';
import { startServer } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';

if (againstNginx) {
  t.bailout('js_balancer is not in njs');
}

const MODULE = `
function choose(r, upstream) {
  const { by } = r.args;
  if (by === undefined) return;
  if (by === 'index') return Number(r.args.n);
  if (by === 'name') return r.args.n;
  if (by === 'peer') return upstream.peers.find((peer) => peer.name === r.args.n);
  if (by === 'thrown') throw new Error('at the choice');
  if (by === 'async') return new Promise(() => {});
  if (by === 'kept') return Promise.resolve(0);
  if (by === 'object') return {};
  if (by === 'answers') { try { r.return(200, 'x'); } catch (e) { r.warn('refused ' + e.name); } return 1; }
  if (by === 'retry') {
    r.variables.told += upstream.failures.map(({ name, status }) => name.replace(/.*:/, '') + '=' + status) + ';';
    if (upstream.failures.length === 0) upstream.tries = 4;
    return upstream.failures.length < 3 ? r.args.n : 0;
  }
  if (by === 'states') { r.variables.told = JSON.stringify([upstream.name, upstream.tries, upstream.peers.map((p) => [p.index, p.server === p.name, p.weight, p.state, p.available, p.conns, p.maxConns, p.fails])]); return 1; }
}
function session(s, upstream) { const failed = upstream.failures.length; s.variables.told += failed; return failed === 0 ? s.variables.dead : 1; }
export default { choose, session };`;

interface Scene {
  readonly zone: string;
  readonly workers: number;
}

async function scene(t: Test, { zone, workers }: Scene): Promise<void> {
  const origins = await Promise.all(['a', 'b', 'c'].map((body) => startOrigin(t, () => ({ body }))));
  const outside = await startOrigin(t, () => ({ body: 'outside' }));
  const tcp = await Promise.all(['a', 'b'].map((text) => startTcpBackend(t, (client) => client.end(text))));
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: `worker_processes ${workers}; events {}
http {
  js_import main.js; js_var $told "";
  upstream group { ${zone} js_balancer main.choose; ${origins.map(({ port }) => `server 127.0.0.1:${port} max_fails=0;`).join(' ')} }
  upstream states { js_balancer main.choose; server 127.0.0.1:${origins[0]!.port} down; server 127.0.0.1:${origins[1]!.port} weight=3 max_conns=7; server localhost:${origins[2]!.port} backup; }
  upstream least { least_conn; js_balancer main.choose; keepalive 4; server 127.0.0.1:${origins[0]!.port}; server 127.0.0.1:${origins[1]!.port}; }
  upstream missing { js_balancer main.none; server 127.0.0.1:${origins[0]!.port}; }
  server {
    listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; http2 on; ssl_certificate cert.pem; ssl_certificate_key key.pem;
    add_header told $told always;
    location / { proxy_pass http://group; }
    location /twice { proxy_next_upstream_tries 2; proxy_pass http://group; }
    location /states { proxy_pass http://states; }
    location /least { proxy_pass http://least; }
    location /missing { proxy_pass http://missing; }
  }
}
stream {
  js_import main.js; js_var $told ""; js_var $dead 127.0.0.1:1; log_format told "told=$told"; access_log %%DIR%%/stream.log told;
  upstream group { ${zone.replace('shared', 'shared_stream')} js_balancer main.session; ${tcp.map(({ port }) => `server 127.0.0.1:${port};`).join(' ')} }
  server { listen 127.0.0.1:%%PORT_2%%; proxy_pass group; }
}`,
    files: { 'main.js': MODULE, 'cert.pem': pem(rsa.cert), 'key.pem': pem(rsa.key) },
    expectAlerts: /at the choice|js_balancer|js exception|async operation|connect\(\) failed/,
  });
  const get = async (path: string): Promise<string> => {
    const { status, text } = await httpGet(s.port(0), path);
    return status === 200 ? text : String(status);
  };
  const rows: [string, string | RegExp][] = [
    ['/?by=index&n=2', 'c'],
    ['/?by=index&n=0', 'a'],
    [`/?by=name&n=127.0.0.1:${origins[1]!.port}`, 'b'],
    [`/?by=peer&n=127.0.0.1:${origins[2]!.port}`, 'c'],
    [`/?by=name&n=127.0.0.1:${outside.port}`, 'outside'],
    ['/?by=answers', 'b'],
    ['/?by=thrown', /^[abc]$/],
    ['/?by=async', /^[abc]$/],
    ['/?by=kept', /^[abc]$/],
    ['/?by=object', /^[abc]$/],
    ['/?by=index&n=3', /^[abc]$/],
    ['/?by=index&n=0.5', /^[abc]$/],
    ['/?by=index&n=x', /^[abc]$/],
    ['/?by=name&n=example.com:80', /^[abc]$/],
    ['/?by=name&n=127.0.0.1', /^[abc]$/],
    ['/?by=name&n=__proto__', /^[abc]$/],
    ['/least?by=index&n=1', 'b'],
    ['/least?by=index&n=1', 'b'],
    ['/missing', 'a'],
    ['/twice', /^[abc]$/],
  ];
  for (const [path, expected] of rows) {
    t.match(await get(path), typeof expected === 'string' ? new RegExp(`^${expected}$`) : expected, path);
  }
  await s.logged(/js exception: Error: at the choice/);
  await s.logged(/async operation inside "main\.choose"/);
  await s.logged(/js_balancer "main\.choose": "3" is no server of upstream "group" and no address with a port/);
  await s.logged(/js: refused TypeError/);
  await s.logged(/js function "main\.none" not found/);
  t.strictSame(
    new Set([await get('/'), await get('/'), await get('/')]),
    new Set(['a', 'b', 'c']),
    'nothing chosen: the method of the group',
  );
  const retried = await httpGet(s.port(0), `/?by=retry&n=127.0.0.1:1`);
  const failure = `1=502`;
  t.strictSame([retried.text, retried.header('told')], ['a', `;${failure};${failure},${failure};${failure},${failure},${failure};`]);
  const twice = await httpGet(s.port(0), `/twice?by=retry&n=127.0.0.1:1`);
  t.strictSame([twice.status, twice.header('told')], [502, `;${failure};`], 'proxy_next_upstream_tries bounds what a function may ask for');
  const states = await httpGet(s.port(0), '/states?by=states');
  t.equal(states.text, 'b');
  t.strictSame(JSON.parse(states.header('told')!), [
    'states',
    2,
    [
      [0, true, 1, 'down', false, 0, 0, 0],
      [1, true, 3, 'up', true, 0, 7, 0],
    ],
  ]);
  const session = connect(`https://127.0.0.1:${s.port(1)}`, { rejectUnauthorized: false });
  const over = (path: string): Promise<string> =>
    new Promise((done, fail) => {
      let text = '';
      const stream = session.request({ ':path': path });
      stream
        .setEncoding('latin1')
        .on('data', (piece: string) => (text += piece))
        .on('error', fail)
        .on('end', () => done(text));
    });
  t.strictSame(await Promise.all([0, 1, 2].map((n) => over(`/?by=index&n=${n}`))), ['a', 'b', 'c'], 'over HTTP/2');
  session.close();
  t.equal(await exchange(s.port(2), ''), 'b');
  t.equal(await exchange(s.port(2), ''), 'b');
  t.match(s.read('stream.log'), /^told=01$/m);
  await s.reload();
  t.equal(await get('/?by=index&n=1'), 'b');
}

t.test('js_balancer', (t) => scene(t, { zone: '', workers: 1 }));
t.test('js_balancer with a zone and two workers', (t) => scene(t, { zone: 'zone shared 256k;', workers: 2 }));

t.test('js_balancer that cannot be', async (t) => {
  const files = { 'main.js': `export default { choose: () => 'nobody' };` };
  for (const [text, message] of [
    ['upstream g { js_balancer a.b; server 127.0.0.1:1; }', /no imports defined for "js_balancer" "a\.b"/],
    [
      'js_import main.js; upstream g { js_balancer main.choose; js_balancer main.choose; server 127.0.0.1:1; }',
      /"js_balancer" directive is duplicate/,
    ],
    [
      'js_import main.js; upstream g { js_balancer main.choose; server 127.0.0.1:1; sticky cookie c; }',
      /"js_balancer" cannot be together with "sticky"/,
    ],
    ['js_import main.js; upstream g { js_balancer main.none; server 127.0.0.1:1; }', /\[warn\] js function "main\.none" not found/],
    ['js_import main.js; js_balancer main.choose;', /"js_balancer" directive is not allowed here/],
  ] as const) {
    t.match((await testConfig(t, `events {} http { ${text} }`, files)).stderr, message);
  }
  const { prefix, file } = await testConfig(
    t,
    'events {} http { js_import main.js; upstream g { js_balancer main.choose; server 127.0.0.1:1; } server { listen 127.0.0.1:80; location / { proxy_pass http://g; } } }',
    files,
  );
  const { stdout } = await runCli(['explain', '-p', `${prefix.dir}/`, '-c', file, '/a']);
  t.match(stdout, /js_balancer calls main\.choose/);
});
