import { connect } from 'node:http2';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs, pem } from '../support/certs.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, pipeline, requestText } from '../support/raw-client.js';
import { runCli, testConfig } from '../support/run-cli.js';
import { startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('js_rewrite is not in njs');
}

const MODULE = `
const say = (r) => r.return(200, [r.uri, r.variables.args ?? '', r.method].join());
async function server(r) {
  if (r.internal) return;
  switch (r.uri) {
    case '/moved': r.rewrite('/a/new'); break;
    case '/args': r.rewrite('/a/args', { args: 'x=1&y=%20' }); break;
    case '/noargs': r.rewrite('/a/none', { args: '' }); break;
    case '/late': await new Promise((done) => setTimeout(done, 5)); r.rewrite('/a/late'); break;
    case '/fetched': { const reply = await ngx.fetch(r.variables.fetched); r.rewrite('/a/' + await reply.text()); break; }
    case '/redirect': r.internalRedirect('/a/in%20side?q=1'); break;
    case '/named': r.internalRedirect('@named'); break;
    case '/away': r.return(302, 'https://example.com/'); break;
    case '/refused': r.return(403); break;
    case '/text': r.return(200, 'from the server'); break;
    case '/var': r.variables.args = 'by=variable'; r.rewrite('/a/var'); break;
    case '/thrown': throw new Error('thrown here');
    case '/declined': r.decline(); break;
    case '/twice': r.rewrite('/a/first'); r.rewrite('/a/second'); break;
    case '/unsafe': r.return(200, [() => r.rewrite('a'), () => r.rewrite('/a/../b'), () => r.rewrite('/a/..'), () => r.rewrite('/\\0'), () => r.rewrite(''),
      () => r.rewrite('/a', { args: 'a HTTP/1.1\\r\\nx: y' }), () => r.rewrite('/a', { args: 'a b' })].map((f) => { try { f(); return 'done'; } catch (e) { return e.name; } }).join()); break;
    case '/form': { const text = await r.readRequestText(); r.rewrite('/a/' + text); break; }
  }
}
let loops = 0;
function loop(r) { r.rewrite('/loop/' + loops++); }
function round(r) { r.internalRedirect('/round'); }
function kept(r) { r.rewrite('/other', { break: true }); }
function next(r) { r.rewrite('/a/next'); }
function wrong(r) { try { r.rewrite('/x'); r.return(200, 'done'); } catch (e) { r.return(200, e.message + Object.keys(r).includes('rewrite')); } }
function marked(r) { r.variables.mark += '-' + (r.variables.v || 'none'); }
function never() { return new Promise(() => {}); }
function answered(r) { r.return(401, 'no'); }
function finished(r) { r.status = 402; r.sendHeader(); r.finish(); }
export default { answered, finished, say, server, loop, round, kept, next, wrong, marked, never };`;

t.test('js_rewrite', async (t) => {
  const origin = await startOrigin(t, ({ target }) => ({ body: target === '/which' ? 'fetched' : `origin ${target}` }));
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: `
worker_processes 2; events {}
http {
  js_import main.js; js_var $mark m; js_var $fetched http://127.0.0.1:${origin.port}/which;
  server {
    listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; http2 on;
    ssl_certificate cert.pem; ssl_certificate_key key.pem;
    js_rewrite main.server;
    location /a/ { js_content main.say; }
    location /proxied/ { js_rewrite main.kept; proxy_pass http://127.0.0.1:${origin.port}; }
    location /next { js_rewrite main.next; }
    location /loop/ { js_rewrite main.loop; }
    location /round { js_rewrite main.round; }
    location /missing { js_rewrite main.nope; }
    location /wrong { js_content main.wrong; }
    location /if { set $v no; if ($arg_a) { set $v yes; } if ($arg_b) { add_header b b; } js_rewrite main.marked; add_header mark $mark; js_content main.say; }
    location /except { limit_except GET { deny all; } js_rewrite main.marked; add_header mark $mark always; js_content main.say; }
    location /never { js_rewrite main.never; js_timeout 50ms; }
    location /sub { js_content main.say; add_before_body /subrequest; add_after_body /subrequest; }
    location @named { js_content main.say; }
    location /answered { js_access main.answered; proxy_pass http://127.0.0.1:${origin.port}; }
    location /finished { js_access main.finished; proxy_pass http://127.0.0.1:${origin.port}; }
    location / { return 404; }
  }
}
`,
    expectAlerts: /thrown here/,
    files: { 'main.js': MODULE, 'cert.pem': pem(rsa.cert), 'key.pem': pem(rsa.key) },
  });
  const answer = (status: number, text: string, location = ''): string => `${status} ${status >= 300 ? location : text}`;
  const ask = async (path: string): Promise<string> => {
    const response = await httpGet(s.port(0), path);
    return answer(response.status, response.text, response.header('location'));
  };
  const rows: [string, string][] = [
    ['/moved', '200 /a/new,,GET'],
    ['/moved?kept=1', '200 /a/new,kept=1,GET'],
    ['/args?gone=1', '200 /a/args,x=1&y=%20,GET'],
    ['/noargs?gone=1', '200 /a/none,,GET'],
    ['/late?z', '200 /a/late,z,GET'],
    ['/fetched', '200 /a/fetched,,GET'],
    ['/redirect', '200 /a/in side,q=1,GET'],
    ['/named', '200 /named,,GET'],
    ['/away', '302 https://example.com/'],
    ['/refused', '403 '],
    ['/text', '200 from the server'],
    ['/var', '200 /a/var,by=variable,GET'],
    ['/thrown', '500 '],
    ['/declined', '404 '],
    ['/twice', '200 /a/second,,GET'],
    ['/unsafe', '200 TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError'],
    ['/proxied/x?q', '200 origin /other?q'],
    ['/next', '200 /a/next,,GET'],
    ['/missing', '500 '],
    ['/wrong', '200 rewrite() is of js_rewritefalse'],
    ['/loop/1', '500 '],
    ['/round', '500 '],
    ['/never', '500 '],
  ];
  for (const [path, expected] of rows) {
    t.equal(await ask(path), expected, path);
  }
  await s.logged(/rewrite or internal redirection cycle while processing "\/loop\//);
  await s.logged(/js handler "main\.never" timed out/);
  await s.logged(/js unhandled rejection: Error: thrown here/);
  const mark = async (path: string): Promise<string | undefined> => (await httpGet(s.port(0), path)).header('mark');
  t.equal(await mark('/if'), 'm-no');
  t.equal(await mark('/if?a=1'), 'm-yes');
  t.equal(await mark('/if?b=1'), undefined, 'the block of the if has headers of its own');
  t.equal(await mark('/except'), 'm-none');
  t.equal((await http(s.port(0), requestText('POST', '/form', {}, 'posted'))).text, '/a/posted,,POST');
  // A body that nobody has read does not become the next request.
  const [first, second] = await pipeline(s.port(0), [
    requestText('POST', '/text', {}, 'GET /x HTTP/1.1'),
    requestText('HEAD', '/text'),
    requestText('GET', '/moved'),
  ]);
  t.strictSame([first?.text, second?.status], ['from the server', 200]);
  // An answer of js_access is one for HEAD, too: the request goes no further.
  const asked = origin.requests.length;
  for (const path of ['/answered', '/finished']) {
    const answers = await pipeline(s.port(0), [
      requestText('HEAD', path),
      requestText('POST', path, {}, 'GET /x HTTP/1.1'),
      requestText('GET', path),
    ]);
    t.strictSame(
      answers.map(({ status }) => status),
      path === '/answered' ? [401, 401, 401] : [402, 402, 402],
      path,
    );
  }
  t.equal(origin.requests.length, asked);
  const session = connect(`https://127.0.0.1:${s.port(1)}`, { rejectUnauthorized: false });
  const over = (path: string): Promise<string> =>
    new Promise((done, fail) => {
      const stream = session.request({ ':path': path });
      let [status, location, text] = [0, '', ''];
      stream.on('response', (headers) => ([status, location] = [headers[':status'] ?? 0, headers.location ?? '']));
      stream
        .setEncoding('latin1')
        .on('data', (piece: string) => (text += piece))
        .on('error', fail)
        .on('end', () => done(answer(status, text, location)));
    });
  t.strictSame(
    await Promise.all(rows.map(([path]) => over(path))),
    rows.map(([, expected]) => expected),
    'over HTTP/2 with TLS',
  );
  session.close();
});

t.test('js_rewrite where it cannot be', async (t) => {
  const conf = (http: string): string => `events {} http { ${http} }`;
  for (const [text, message] of [
    ['server { listen 127.0.0.1:1; js_rewrite a.b; }', /no imports defined for "js_rewrite" "a\.b"/],
    ['js_import main.js; js_rewrite main.f;', /"js_rewrite" directive is not allowed here/],
    ['js_import main.js; server { js_rewrite main.f; js_rewrite main.f; }', /"js_rewrite" directive is duplicate/],
    ['js_import main.js; server { js_rewrite main.none; }', /\[warn\] .*js function "main\.none" not found/],
  ] as const) {
    t.match((await testConfig(t, conf(text), { 'main.js': 'export default { f() {} };' })).stderr, message);
  }
  const { prefix, file } = await testConfig(
    t,
    conf('js_import main.js; server { listen 127.0.0.1:80; js_rewrite main.f; location /b { return 200 b; } }'),
    { 'main.js': `export default { f(r) { r.rewrite('/b', { args: 'c' }); } };` },
  );
  const { stdout } = await runCli(['explain', '-p', `${prefix.dir}/`, '-c', file, '/a']);
  t.match(stdout, /js_rewrite calls main\.f/);
  t.match(stdout, /js_rewrite changes "\/a" to "\/b\?c"/);
  t.match(stdout, /location \/b/);
});
