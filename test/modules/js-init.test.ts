import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { startOrigin } from '../support/origin.js';
import { exchange, httpGet } from '../support/raw-client.js';
import { runCli, testConfig } from '../support/run-cli.js';
import { startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('js_init is not in njs');
}

const MODULE = `
let state = 'nothing';
async function begin() { state = 'begun'; const reply = await ngx.fetch(FROM); state = (await reply.text()) + ngx.worker_id; ngx.log(ngx.WARN, 'init ' + state); }
function second() { state += '-second'; setTimeout(() => { state += '-later'; }, 1); setTimeout(() => {}, 3600000); }
export default { begin, second, thrown() { throw new Error('no luck'); }, async rejected() { await null; throw new Error('late luck'); }, never: () => new Promise(() => {}),
  show(r) { r.return(200, state); }, state: () => state };`;

t.test('js_init', async (t) => {
  const origin = await startOrigin(t, () => ({ body: 'fetched' }));
  const conf = (inits: string, main = 'worker_processes 2;'): string => `
${main} events {}
http { js_import main.js; ${inits} server { listen 127.0.0.1:%%PORT_0%%; location / { js_content main.show; } } }
stream { js_import main.js; js_init main.second; js_set $state main.state; server { listen 127.0.0.1:%%PORT_1%%; return $state; } }`;
  const s = await startServer(t, {
    conf: conf('js_init main.begin; js_init main.second timeout=5s;'),
    files: { 'main.js': MODULE.replace('FROM', `'http://127.0.0.1:${origin.port}/'`) },
    expectAlerts: /luck|took longer|signal 9/,
  });
  const show = async (): Promise<string> => (await httpGet(s.port(0), '/')).text;
  t.match(await show(), /^fetched[01]-second/);
  t.equal(origin.requests.length, 2, 'once for each worker');
  await waitFor(async () => (await show()).endsWith('-second-later'));
  t.match(await exchange(s.port(1), ''), /^nothing-second/, 'the modules of stream are their own');
  for (const [init, message] of [
    ['main.thrown', /js_init "main\.thrown" failed: js exception: Error: no luck/],
    ['main.rejected', /js_init "main\.rejected" failed: js unhandled rejection: Error: late luck/],
    ['main.never timeout=20ms', /js_init "main\.never" took longer than 20 ms/],
  ] as const) {
    await t.rejects(s.reload(conf(`js_init main.begin; js_init ${init}; js_init main.second;`)), { message });
    t.match(await show(), /^fetched[01]-second-later/, 'the workers of before serve on');
  }
  const before = s.workers();
  await s.reload(conf('js_init main.begin;'));
  t.match(await show(), /^fetched[01]$/);
  // A worker that takes the place of another one is asked, too.
  const [worker] = s.workers().filter((pid) => !before.includes(pid));
  const asked = origin.requests.length;
  process.kill(worker!, 'SIGKILL');
  await waitFor(() => origin.requests.length > asked);
});

t.test('js_init in one process', async (t) => {
  const s = await startServer(t, {
    conf: `master_process off; events {}
http { js_import main.js; js_init main.begin; server { listen 127.0.0.1:%%PORT_0%%; location / { js_content main.show; } } }`,
    files: { 'main.js': MODULE.replace('await ngx.fetch(FROM)', `{ text: async () => 'alone' }`) },
  });
  t.equal((await httpGet(s.port(0), '/')).text, 'alone0');
});

t.test('js_init that cannot be', async (t) => {
  for (const [text, message] of [
    ['js_init a.b;', /no imports defined for "js_init" "a\.b"/],
    ['js_import main.js; js_init main.none;', /\[emerg\] js function "main\.none" not found in .*sluice\.conf:1/],
    ['js_import main.js; js_init main.f timeout=0;', /invalid timeout value "0"/],
    ['js_import main.js; js_init main.f soon;', /invalid parameter "soon"/],
    ['js_import main.js; server { js_init main.f; }', /"js_init" directive is not allowed here/],
  ] as const) {
    t.match((await testConfig(t, `events {} http { ${text} }`, { 'main.js': 'export default { f() {} };' })).stderr, message);
  }
  const { prefix, file } = await testConfig(
    t,
    'daemon off; events {} http { js_import main.js; js_init main.f; server { listen 127.0.0.1:%%PORT_0%%; } }',
    {
      'main.js': `export default { f() { throw new Error('at the start'); } };`,
    },
  );
  const { code, stderr } = await runCli(['-p', `${prefix.dir}/`, '-c', file]);
  t.match([code, stderr], [1, /\[emerg\] .*js_init "main\.f" failed: js exception: Error: at the start/]);
});
