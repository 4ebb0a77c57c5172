import { connect as connectHttp2 } from 'node:http2';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { exchange, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

// What a handler has begun goes on once it has answered.

const MODULE = `
const later = (ms) => new Promise((done) => setTimeout(done, ms));
function answers(r) { r.return(200, 'x'); setTimeout(() => r.warn('behind ' + r.args.n), 50); }
async function large(r) { r.return(200, 'x'.repeat(4000000)); await later(50); r.warn('behind ' + r.args.n); }
async function fetches(r) { r.return(200, 'x'); const reply = await ngx.fetch(ORIGIN); r.warn('behind ' + r.args.n + reply.status); }
async function silent(r) { r.warn('begun ' + r.args.n); await later(30); r.warn('behind ' + r.args.n); r.return(200, 'x'); }
function hours(r) { r.return(200, 'x'); setTimeout(() => r.warn('an hour later'), 3600000); }
async function declines(r) { r.decline(); await new Promise((done) => setImmediate(done)); r.return(403, 'refused'); }
async function redirects(r) { r.internalRedirect('/plain'); await new Promise((done) => setImmediate(done)); r.return(403, 'refused'); }
async function subrequests(r) { r.return(200, 'x'); await later(20); try { r.warn('behind ' + r.args.n + typeof r.subrequest('/plain')); } catch (e) { r.warn('behind ' + r.args.n + e.message); } }
async function sends(r) { r.return(200, 'x'); await later(20); try { r.send('y'); r.finish(); r.sendHeader(); r.return(500); r.internalRedirect('/plain'); } catch (e) { r.warn(e.message); } r.warn('behind ' + r.args.n); }
async function reads(r) { r.return(200, 'x'); await later(20); r.warn('behind ' + r.args.n + (await r.readRequestText())); }
async function fails(r) { r.return(200, 'x'); await later(20); throw new Error('behind ' + r.args.n); }
function passed(r) { r.return(200, 'passed'); }
export default { passed, answers, large, fetches, silent, hours, declines, redirects, subrequests, sends, reads, fails };`;

t.test('what a handler has begun goes on behind its answer', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(
      `js_import m.js;
  server {
    listen 127.0.0.1:%%PORT_0%%; http2 on;
    ${['answers', 'large', 'fetches', 'silent', 'hours', 'subrequests', 'sends', 'reads', 'fails'].map((name) => `location = /${name} { js_content m.${name}; }`).join('\n    ')}
    location = /access { js_access m.fetches; js_content m.passed; }
    location = /declines { js_access m.declines; js_content m.passed; }
    location = /redirects { js_access m.redirects; js_content m.passed; }
    location = /redirected { js_content m.redirects; }
    location = /plain { return 200 plain; }
  }`,
      'worker_processes 1;',
    ),
    files: { 'm.js': MODULE.replace('ORIGIN', "'http://127.0.0.1:%%PORT_0%%/plain'") },
    expectAlerts: /behind fails/,
  });
  const [worker] = s.workers();
  for (const name of ['answers', 'fetches', 'access', 'subrequests', 'sends', 'reads', 'fails']) {
    const { status, text } = await httpGet(s, `/${name}?n=${name}`);
    t.strictSame([status, text], [200, 'x'], name);
    await s.logged(new RegExp(`behind ${name}`));
  }
  t.match(await exchange(s, requestText('POST', '/reads?n=posted', { Connection: 'close', 'Content-Length': '3' }, 'abc')), /\r\n\r\nx$/);
  await s.logged(/behind postedabc/);

  // A function that has not come to its end may still refuse.
  t.strictSame([(await httpGet(s, '/declines')).status, (await httpGet(s, '/redirects')).status], [403, 403]);
  t.equal((await httpGet(s, '/redirected')).status, 403);

  // Clients that leave: behind the answer, within it, and before it.
  for (const name of ['answers', 'large', 'silent']) {
    const client = await RawClient.connect(s.port(0));
    client.send(requestText('GET', `/${name}?n=one-${name}`));
    await (name === 'silent' ? s.logged(/begun one-silent/) : client.until('\r\n\r\nx'));
    client.destroy(true);
    const session = connectHttp2(`http://127.0.0.1:${s.port(0)}`);
    session.on('error', () => {});
    const stream = session.request({ ':path': `/${name}?n=two-${name}` });
    stream.on('error', () => {});
    await (name === 'silent' ? s.logged(/begun two-silent/) : new Promise((done) => stream.once('data', done)));
    session.destroy();
    await s.logged(new RegExp(`behind one-${name}`));
    await s.logged(new RegExp(`behind two-${name}`));
  }

  // A timer of an hour keeps no worker.
  t.equal((await httpGet(s, '/hours')).text, 'x');
  t.strictSame(s.workers(), [worker], 'no worker has ended');
  await s.reload();
  await s.stop('QUIT');
  t.notMatch(s.log(), /an hour later/);
});
