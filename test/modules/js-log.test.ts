import { connect } from 'node:net';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('js_log is not in njs');
}

t.test('js_log', async (t) => {
  const s = await startServer(t, {
    conf: `
events {}
http {
  js_import main.js; js_var $seen none; js_log main.log;
  server {
    listen 127.0.0.1:%%PORT_0%%;
    location = /content { js_content main.content; }
    location = /thrown { js_log main.thrown; return 200 fine; }
    location = /answers { js_log main.answers; return 200 fine; }
    location = /told { js_log main.told; return 200 fine; }
    location = /missing { js_log main.nope; return 200 fine; }
    location = /fresh { js_context_reuse off; js_content main.content; js_log main.counted; }
    location = /heard { return 200 "heard$arg_s"; }
    location / { return 404; }
  }
}
stream { js_import main.js; js_log main.session; server { listen 127.0.0.1:%%PORT_1%%; return bye; } }
`,
    files: {
      'main.js': `
let calls = 0;
function content(r) { calls++; r.variables.seen = 'content'; r.headersOut.a = 'b'; r.return(202, 'text'); }
function log(r) { ngx.log(ngx.WARN, 'over ' + [r.uri, r.status, r.variables.seen, r.headersOut.a, r.variables.body_bytes_sent, r.headersIn.host !== undefined].join()); }
function counted(r) { ngx.log(ngx.WARN, 'counted ' + calls + ' for ' + r.args.n); }
function thrown() { throw new Error('at the end'); }
function answers(r) { for (const f of [() => r.return(200, 'x'), () => r.send('x'), () => r.sendBuffer('x'), () => r.internalRedirect('/'), () => r.finish(), () => r.decline(), () => r.sendHeader(), () => { r.status = 5; }]) { try { f(); } catch (e) { ngx.log(ngx.WARN, 'refused ' + e.name); } } }
async function told(r) { const reply = await ngx.fetch('http://127.0.0.1:%%PORT_0%%/heard?s=' + r.status); ngx.log(ngx.WARN, 'told ' + await reply.text()); }
function session(s) { ngx.log(ngx.WARN, 'session ' + [s.remoteAddress, s.status, s.variables.bytes_sent].join()); }
export default { content, log, counted, thrown, answers, told, session };`,
    },
    expectAlerts: /at the end/,
  });
  const ask = async (path: string): Promise<string> => {
    const { status, text } = await httpGet(s.port(0), path);
    return `${status} ${status === 404 ? '' : text}`;
  };
  t.equal(await ask('/content'), '202 text');
  await s.logged(/js: over \/content,202,content,b,4,true/);
  t.equal(await ask('/none'), '404 ');
  await s.logged(/js: over \/none,404,none,,\d+,true/);
  t.equal(await ask('/thrown'), '200 fine');
  await s.logged(/js exception: Error: at the end/);
  t.equal(await ask('/answers'), '200 fine', 'what has been answered cannot be answered again');
  await s.logged(/js: refused TypeError/);
  t.equal(await ask('/told'), '200 fine');
  await s.logged(/js: told heard200/);
  t.equal(await ask('/missing'), '200 fine');
  await s.logged(/js function "main\.nope" not found/);
  for (let i = 0; i < 2; i++) {
    t.equal(await ask(`/fresh?n=${i}`), '202 text');
    await s.logged(new RegExp(`js: counted 1 for ${i}`));
  }
  await new Promise((done) => connect(s.port(1), '127.0.0.1').on('close', done).resume());
  await s.logged(/js: session 127\.0\.0\.1,200,3/);
  const { stderr } = await testConfig(t, 'events {} http { server { listen 127.0.0.1:1; js_log a.b; } }');
  t.match(stderr, /no imports defined for "js_log" "a\.b"/);
});
