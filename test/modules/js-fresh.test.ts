import { connect } from 'node:net';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

// `js_context_reuse off`: each request and session has modules of its own, as with njs.

const files = {
  'count.js': `
import other from 'other.js';
let calls = 0;
const seen = new Map();
function again(r) { calls++; other.add(); seen.set(r.uri, 1); r.return(200, [calls, other.count(), seen.size, r.variables.counted ?? '', ngx.engine_id > 0].join()); }
function counted(r) { return ++calls; }
function access() { calls += 10; }
function head(r) { delete r.headersOut['Content-Length']; r.headersOut.calls = ++calls; }
function body(r, data, flags) { r.sendBuffer(flags.last ? data + (++calls) : data, flags); }
async function later(r) { calls++; await new Promise((done) => setTimeout(done, 1)); calls++; r.return(200, String(calls)); }
async function both(r) { calls++; const one = await r.subrequest('/fresh'); r.return(200, calls + ':' + one.responseText); }
function redirect(r) { calls++; r.internalRedirect('/fresh'); }
function session() { return ++calls; }
export default { again, counted, access, head, body, later, both, redirect, session };
`,
  'other.js': 'let n = 0; export default { add() { n++; }, count() { return n; } };',
  'broken.js':
    'let n = 0; if (ngx.shared.made.incr("n", 1) > 1) { throw new Error("again"); } export default { f(r) { r.return(200, "made"); } };',
};

const conf = `
events {}
http {
  js_import count.js; js_import broken.js; js_shared_dict_zone zone=made:32k type=number;
  js_set $counted count.counted; js_set $uncached count.counted nocache;
  server {
    listen 127.0.0.1:%%PORT_0%%;
    location = /shared { js_content count.again; }
    location = /fresh { js_context_reuse off; js_content count.again; }
    location = /zero { js_context_reuse 0; js_content count.later; }
    location = /both { js_context_reuse off; js_content count.both; }
    location = /redirect { js_context_reuse off; js_content count.redirect; }
    location = /value { js_context_reuse off; return 200 "$counted$counted$uncached$uncached"; }
    location = /phases { js_context_reuse off; js_access count.access; js_header_filter count.head; js_body_filter count.body; js_content count.again; }
    location = /broken { js_context_reuse off; js_content broken.f; }
    location = /kept { js_context_reuse 64; js_content count.later; }
  }
}
stream {
  js_import count.js; js_context_reuse off; js_set $session count.session;
  server { listen 127.0.0.1:%%PORT_1%%; return "$session"; }
}
`;

const session = (port: number): Promise<string> =>
  new Promise((done) => {
    let got = '';
    connect(port, '127.0.0.1')
      .on('data', (piece) => (got += String(piece)))
      .on('end', () => done(got));
  });

t.test('modules are made anew for each request', async (t) => {
  const s = await startServer(t, { conf, files, expectAlerts: /./ });
  const all = async (path: string): Promise<string> => {
    const bodies: string[] = [];
    for (let i = 0; i < 2; i++) {
      bodies.push((await httpGet(s.port(0), path)).body.toString());
    }
    return bodies.join(' ');
  };
  t.equal(await all('/shared'), '1,1,1,2,true 3,2,1,4,true', 'without it they are those of all requests');
  t.equal(await all('/fresh'), '1,1,1,2,true 1,1,1,2,true');
  t.equal(await all('/zero'), '2 2', 'and stay those of a request that waits');
  t.equal(await all('/both'), '1:1,1,1,2,true 1:1,1,1,2,true', 'a subrequest has others');
  t.equal(await all('/redirect'), '1,1,1,2,true 1,1,1,2,true', 'and so has a request that went elsewhere');
  t.equal(await all('/value'), '1122 1122');
  const phases = await httpGet(s.port(0), '/phases');
  t.equal(
    `${phases.headers.find(([name]) => name === 'calls')?.[1]} ${phases.body}`,
    '13 11,1,1,12,true14',
    'the functions of all phases have the same',
  );
  t.equal(await all('/kept'), '6 8');
  const broken = await httpGet(s.port(0), '/broken');
  t.equal(broken.status, 500, 'what a module throws then costs the request');
  t.match(s.log(), /js exception: Error: again/);
  for (let i = 0; i < 2; i++) {
    t.equal(await session(s.port(1)), '1', 'in stream, too');
  }
});

t.test('js_context_reuse and its values', async (t) => {
  const message = async (line: string): Promise<string> =>
    (await testConfig(t, `events {} http { ${line} server { listen 127.0.0.1:1; } }`)).stderr;
  t.match(await message('js_context_reuse off;'), /test is successful/);
  t.match(await message('js_context_reuse x;'), /invalid value/);
  t.match(await message('js_context_reuse 1; js_context_reuse 2;'), /is duplicate/);
});

t.test('njs.on at the top of a module', async (t) => {
  const s = await startServer(t, {
    conf: `
events {}
http {
  js_import hooks.js; js_import also from hooks.js;
  js_set $name hooks.name;
  server {
    listen 127.0.0.1:%%PORT_0%%;
    location = /shared { js_content hooks.answer; }
    location = /also { js_content also.answer; }
    location = /own { js_content hooks.own; }
    location = /fresh { js_context_reuse off; js_content hooks.answer; }
    location = /sub { js_content hooks.sub; }
    location = /name { return 200 "$name$name"; }
    location = /none { return 200; }
  }
}
stream {
  js_import hooks.js;
  server { listen 127.0.0.1:%%PORT_1%%; js_access hooks.session; return "session"; }
}
`,
    files: {
      'hooks.js': `
let calls = 0;
njs.on('exit', () => ngx.log(ngx.ERR, 'first'));
njs.on('exit', () => ngx.log(ngx.ERR, 'over ' + calls));
function answer(r) { calls++; r.return(200, r.uri); }
function own(r) { njs.on('exit', () => r.error('own ' + r.uri)); r.return(200, r.uri); }
async function sub(r) { await r.subrequest('/shared'); r.return(200, r.uri); }
function name() { return 'n'; }
function session(s) { s.allow(); }
export default { answer, own, sub, name, session };
`,
    },
    expectAlerts: /./,
  });
  const said = async (ask: () => Promise<unknown>): Promise<string[]> => {
    const before = s.log().length;
    await ask();
    // The log is written in order, and the request that asks for this answer comes last.
    await httpGet(s.port(0), '/own');
    await waitFor(() => s.log().includes('own /own', before));
    const lines = s
      .log()
      .slice(before)
      .split('\n')
      .filter((line) => line.includes(' js: '));
    return lines.map((line) => / js: (.*?)( while [a-z ]+)?, /.exec(line)![1]!).slice(0, -1);
  };
  const get = (path: string) => said(() => httpGet(s.port(0), path));
  t.strictSame(await get('/shared'), ['over 1']);
  t.strictSame(await get('/shared'), ['over 2']);
  t.strictSame(await get('/also'), ['over 3'], 'the same module by another name');
  t.strictSame(await get('/own'), ['own /own'], 'a request has its own');
  t.strictSame(await get('/fresh'), ['over 1'], 'a module for this request alone');
  t.strictSame(await get('/sub'), ['over 4', 'over 4'], 'for a request and its subrequest');
  t.strictSame(await get('/name'), ['over 4'], 'a variable enters the module, too');
  t.strictSame(await get('/none'), [], 'nobody entered it');
  t.strictSame(await said(() => session(s.port(1))), ['over 0'], 'a session');
});
