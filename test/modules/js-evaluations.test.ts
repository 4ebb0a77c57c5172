import t from 'tap';
import { httpGet } from '../support/raw-client.js';
import { startServer } from '../support/server.js';

// How often the functions of `js_set` are called; nginx with njs gives the same answers.

const script = `
let n = 0;
function count(r) { n += 1; return String(n); }
function reset(r) { n = 0; return ''; }
function read(r) { n = 0; var v = r.variables; r.return(200, [v.asked, v.asked, v.named, v.named].join()); }
function assign(r) {
  var found = ['asked', 'named'].map((name) => { try { r.variables[name] = 'x'; return r.variables[name]; } catch (e) { return e.message; } });
  r.return(200, found.join());
}
function self(r) { return r.variables.self === undefined ? 'round' : 'value'; }
function circle(r) { r.return(200, r.variables.self); }
export default { count, reset, read, assign, self, circle };
`;

t.test('how often variables of scripts are computed', async (t) => {
  const s = await startServer(t, {
    conf: `events {}
http {
  js_import t.js;
  js_set $reset t.reset; js_set $count t.count nocache; js_set $asked t.count; js_set $named t.count; js_set $self t.self;
  server {
    listen 127.0.0.1:%%PORT_0%%;
    set $before $reset;
    location /set { set $a $count; set $b "<$count>"; return 200 "$a$b$count"; }
    location /twice { set $a $count-$count; return 200 $a; }
    location /text { return 200 "$count$count"; }
    location /rewrite { rewrite ^ /shown?$count last; }
    location /shown { return 200 $args; }
    location /if { if ($count = 1) { return 200 "one $count"; } return 200 none; }
    location /read { js_content t.read; add_header Named $named; }
    location /assign { js_content t.assign; }
    location /circle { js_content t.circle; }
  }
}
`,
    files: { 't.js': script },
  });
  const get = async (path: string): Promise<string> => (await httpGet(s, path)).text;
  t.equal(await get('/set'), '2<4>5', 'twice for what `set` assigns: for its length, and for its bytes');
  t.equal(await get('/twice'), '3-4', 'each use is one of its own');
  t.equal(await get('/text'), '11', 'once for a text elsewhere');
  t.equal(await get('/rewrite'), '2');
  t.equal(await get('/if'), 'one 2');
  t.equal(await get('/read'), '1,2,3,3', 'each time for one that the configuration does not use');
  t.equal(await get('/assign'), 'variable is not writable,x');
  t.equal(await get('/circle'), 'value', 'the innermost call finds nothing');
  await s.logged(/\[error\] .*cycle/);
});
