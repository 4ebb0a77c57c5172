import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx has no such option');
}

t.test('a reload is asked for only when all cases pass', async (t) => {
  const conf = (text: string) => `pid %%DIR%%/server.pid;\n${serverConf(`location / { return 200 ${text}; }`)}`;
  const files = { 'cases/a.test.conf': 'case "it says new" { request http://localhost:%%PORT_0%%/; expect { status 200; body new; } }\n' };
  const server = await startServer(t, { conf: conf('old'), files });
  const reload = (cases: string) =>
    runCli(['-p', `${server.dir}/`, '-c', 'sluice.conf', '-e', 'error.log', '-s', 'reload', '--check', `${server.dir}/${cases}`]);
  await server.configure(conf('wrong'));
  const refused = await reload('cases');
  t.equal(refused.code, 1);
  t.match(refused.stdout, 'it says new');
  t.match(refused.stderr, 'sluice: the server is not told to reload: its configuration does not pass the cases\n');
  const missing = await reload('nothing');
  t.equal(missing.code, 1);
  t.match(missing.stderr, 'is not told to reload');
  t.notMatch(server.log(), 'reconfiguring');
  t.equal((await httpGet(server, '/')).body.toString(), 'old');
  await server.configure(conf('new'));
  const done = await reload('cases/a.test.conf');
  t.equal(done.code, 0, done.stdout + done.stderr);
  await waitFor(async () => (await httpGet(server, '/')).body.toString() === 'new');
});
