import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

// What functions of `js_periodic` get, and what variables tell them. The lines are those of nginx with njs where it can say them: it
// crashes when such a function asks for an address, or for most of what a request has.

const script = `
const shown = (s, names) => names.map((name) => name + '=' + (s.variables[name] ?? 'none')).join();
const tried = (f) => { try { return f(); } catch (e) { return e.name + ': ' + e.message; } };
const kind = (s) => [Object.prototype.toString.call(s), Object.keys(s).length, JSON.stringify(s), typeof s.variables, typeof s.rawVariables, typeof s.return, typeof s.log].join();
const changed = (s) => [tried(() => { s.variables.jsv = 'w'; return s.variables.jsv + s.rawVariables.jsv; }), tried(() => { s.variables.nope = 'w'; })].join();
function value(r) { return 'set'; }
function http(s) {
  s.variables.jsv; ngx.log(ngx.WARN, 'http ' + kind(s));
  ngx.log(ngx.WARN, 'http ' + shown(s, ['jsv', 'setv', 'mapped', 'status', 'body_bytes_sent', 'bytes_sent', 'request_length', 'connection_requests', 'is_args', 'uri', 'host', 'arg_a', 'sent_http_a', 'remote_addr', 'upstream_addr', 'nope']));
  ngx.log(ngx.WARN, 'http ' + /^\\d+\\.\\d{3}$/.test(s.variables.request_time) + changed(s));
}
function stream(s) {
  ngx.log(ngx.WARN, 'stream ' + kind(s));
  ngx.log(ngx.WARN, 'stream ' + shown(s, ['jsv', 'setv', 'status', 'bytes_sent', 'bytes_received', 'protocol', 'remote_addr', 'nope']));
  ngx.log(ngx.WARN, 'stream ' + /^\\d+\\.\\d{3}$/.test(s.variables.session_time) + changed(s));
}
async function fetched(s) { const reply = await ngx.fetch('http://127.0.0.1:%%PORT_0%%/'); ngx.log(ngx.WARN, 'fetched ' + (await reply.text()) + s.variables.jsv); }
function thrown() { throw new Error('thrown'); }
async function rejected() { throw new Error('rejected'); }
export default { value, http, stream, fetched, thrown, rejected };
`;

t.test('what periodic functions get', async (t) => {
  const common = 'js_import main.js; js_var $jsv start; js_set $setv main.value;';
  const s = await startServer(t, {
    conf: `
events {}
http {
  ${common} map $jsv $mapped { start mapped-start; }
  server {
    listen 127.0.0.1:%%PORT_0%%;
    location / { return 200 answer; }
    location @p {
      js_periodic main.http interval=1h; js_periodic main.fetched interval=1h; js_periodic main.thrown interval=1h; js_periodic main.rejected interval=1h;
      js_periodic main.nope interval=1h;
    }
  }
}
stream { ${common} server { listen 127.0.0.1:%%PORT_1%%; js_periodic main.stream interval=1h; return x; } }
`,
    files: { 'main.js': script },
    expectAlerts: /thrown|rejected/,
  });
  const kind = '\\[object PeriodicSession\\],0,\\{\\},object,object,undefined,undefined';
  const changed = 'ww,TypeError: variable not found';
  for (const line of [
    `js: http ${kind}`,
    'js: http jsv=start,setv=set,mapped=mapped-start,status=000,body_bytes_sent=0,bytes_sent=0,request_length=0,connection_requests=0,is_args=,uri=/,host=,arg_a=none,sent_http_a=none,remote_addr=,upstream_addr=none,nope=none',
    `js: http true${changed}`,
    `js: stream ${kind}`,
    'js: stream jsv=start,setv=set,status=000,bytes_sent=0,bytes_received=0,protocol=TCP,remote_addr=,nope=none',
    `js: stream true${changed}`,
    'js: fetched answerstart',
    'js exception: Error: thrown',
    'js unhandled rejection: Error: rejected',
    'js function "main.nope" not found',
  ]) {
    await s.logged(new RegExp(line));
    t.pass(line);
  }
});
