import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { isAlive } from '../support/processes.js';
import { httpGet } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const conf = `pid %%DIR%%/server.pid;\n${serverConf('location / { return 200 hello; }')}`;
const args = (dir: string) => ['-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'error.log', '-g', 'daemon off;'];

t.test('nothing is left beside it', async (t) => {
  const s = await startServer(t, { conf });
  const { dir, pid } = s;
  t.equal(s.read('server.pid'), `${pid}\n`);
  await s.stop();
  for (const name of ['server.pid', 'server.pid.lock', 'server.pid.workers']) {
    t.notOk(existsSync(`${dir}/${name}`), name);
  }
});

t.test('a second instance refuses to start', { skip: againstNginx }, async (t) => {
  const s = await startServer(t, { conf });
  const { code, stderr } = await runCli(args(s.dir));
  t.equal(code, 1);
  t.match(stderr, `sluice: [emerg] the pid file "${s.dir}/server.pid" belongs to process ${s.pid}, which is running`);
  t.equal((await httpGet(s, '/')).text, 'hello');
});

t.test('of two that start at once, one serves', { skip: againstNginx }, async (t) => {
  const prefix = await makePrefix(t, { 'sluice.conf': conf });
  const [command, ...first] = serverCommand();
  const start = () => spawn(command, [...first, ...args(prefix.dir)], { stdio: 'ignore' });
  const both = [start(), start()];
  t.teardown(() => {
    for (const child of both) {
      child.kill('SIGTERM');
    }
  });
  await waitFor(() => existsSync(`${prefix.dir}/server.pid`));
  await waitFor(() => both.filter((child) => child.exitCode !== null).length === 1);
  const winner = both.find((child) => child.exitCode === null);
  t.equal(readFileSync(`${prefix.dir}/server.pid`, 'latin1'), `${winner?.pid}\n`);
  t.equal((await httpGet(prefix, '/')).text, 'hello');
  winner?.kill('SIGTERM');
  await waitFor(() => winner?.exitCode === 0);
});

t.test('what was left behind is taken over at once', { skip: againstNginx }, async (t) => {
  const prefix = await makePrefix(t, { 'sluice.conf': conf });
  const { dir } = prefix;
  const gone = spawnSync('true').pid;
  writeFileSync(`${dir}/server.pid`, `${gone}\n`);
  mkdirSync(`${dir}/server.pid.lock`);
  mkdirSync(`${dir}/server.pid.workers`);
  writeFileSync(`${dir}/server.pid.workers/${gone}`, '');
  const [command, ...first] = serverCommand();
  const child = spawn(command, [...first, ...args(dir)], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  await waitFor(() => readFileSync(`${dir}/server.pid`, 'latin1') === `${child.pid}\n`);
  t.equal((await httpGet(prefix, '/')).text, 'hello');
  child.kill('SIGTERM');
  await waitFor(() => child.exitCode === 0);
  t.notOk(existsSync(`${dir}/server.pid.lock`));
  t.notOk(existsSync(`${dir}/server.pid.workers`));
});

t.test("somebody else's is left alone", { skip: againstNginx }, async (t) => {
  const s = await startServer(t, { conf });
  const { pid } = s;
  await s.write('server.pid', '1\n');
  process.kill(pid, 'SIGTERM');
  await waitFor(() => !isAlive(pid));
  t.equal(s.read('server.pid'), '1\n');
  await s.write('server.pid', '');
});

t.test('it moves with its directive', async (t) => {
  const s = await startServer(t, { conf });
  const { pid, dir } = s;
  await s.configure(conf.replace('server.pid', 'other.pid'));
  process.kill(pid, 'SIGHUP');
  await waitFor(() => s.read('other.pid') === `${pid}\n` && !existsSync(`${dir}/server.pid`));
  process.kill(pid, 'SIGQUIT');
  await waitFor(() => !isAlive(pid));
  t.notOk(existsSync(`${dir}/other.pid`));
});
