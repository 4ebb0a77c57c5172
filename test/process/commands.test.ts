import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { RawClient } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx has no such commands');
}

t.test('sluice status says what runs', async (t) => {
  const server = await startServer(t, {
    conf: httpConf('server { listen 127.0.0.1:%%PORT_0%%; return 204; }', 'worker_processes 2;'),
  });
  const status = (...more: string[]) =>
    runCli(['status', '-p', `${server.dir}/`, '-c', 'sluice.conf', '-g', `pid ${server.dir}/server.pid;`, ...more]);
  t.match((await status()).stdout, /^0 connections: 0 reading, 0 writing, 0 waiting; 0 requests in all\n$/m, 'nobody has come yet');
  t.match(JSON.parse((await status('--json')).stdout), { connections: { active: 0, waiting: 0 }, requests: 0 });
  const client = await RawClient.connect(server);
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.response();
  // Workers note their numbers a moment after they change.
  const said = await waitFor(async () => {
    const { stdout } = await status();
    return /^1 connection: .*; 1 request in all$/m.test(stdout) && stdout;
  });
  const date = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC';
  t.match(said, new RegExp(`^sluice runs as process ${server.pid} since ${date} \\(pid file ${server.dir}/server\\.pid\\)\n`));
  for (const pid of server.workers()) {
    t.match(said, new RegExp(`^  ${pid}  worker process since ${date} on (uring|libuv)(: \\d connections?, \\d requests?)?$`, 'm'));
  }
  t.match(said, /^1 connection: 0 reading, 0 writing, 1 waiting; 1 request in all\n$/m);
  t.match(said, /\n\nserver +req\/s +requests +2xx .*\n\S+ +- +1 +1 /);
  const json = JSON.parse((await status('--json')).stdout);
  t.match(json, { running: true, pid: server.pid, connections: { active: 1, waiting: 1 }, requests: 1 });
  t.same(json.processes.map(({ pid }: { pid: number }) => pid).sort(), server.workers().sort());
  t.ok(Math.abs(Date.parse(json.since) - Date.now()) < 3_600_000);
  client.socket.destroy();
  await server.write('sluice.conf', `pid ${server.dir}/server.pid;\nevents {\n  bogus 1;\n}`);
  const broken = await runCli(['status', '-p', `${server.dir}/`, '-c', 'sluice.conf']);
  t.match(broken, { code: 0, stderr: '' });
  t.match(broken.stdout, `sluice runs as process ${server.pid} `);
  t.match(broken.stdout, /\nthe files cannot be loaded now, so a reload would be refused: unknown directive "bogus" in .*:3\n/);
  t.match(JSON.parse((await status('--json')).stdout), { pid: server.pid, configuration_error: /"pid" directive is duplicate|bogus/ });
  await server.write('sluice.conf', `pid ${server.dir}/server.pid;\nevents { "`);
  t.match((await runCli(['status', '-p', `${server.dir}/`, '-c', 'sluice.conf'])).stdout, /: unexpected end of file/, 'no syntax');
});

t.test('nothing runs, or the configuration cannot be used', async (t) => {
  const { dir, write } = await makePrefix(t, { 'sluice.conf': 'pid x.pid; events {}' });
  const status = (...more: string[]) => runCli(['status', '-p', `${dir}/`, '-c', 'sluice.conf', ...more]);
  t.match(await status(), { code: 3, stdout: `sluice: nothing runs: the pid file "${dir}/x.pid" names no running server\n`, stderr: '' });
  t.match(await status('--json'), { code: 3, stdout: '{ "running": false }\n' });
  await write('x.pid', `${process.pid}\n`);
  t.equal((await status()).code, 3, 'a process that is no server');
  await write('sluice.conf', 'bogus;');
  t.match(await status(), { code: 78, stdout: '', stderr: /^sluice: unknown directive "bogus" in / });
  t.equal((await runCli(['cache', 'list', '-p', `${dir}/`, '-c', 'sluice.conf'])).code, 78);
});

t.test('words of other servers are answered with the right command', async (t) => {
  for (const [word, right] of [
    ['start', '`sluice -c FILE`'],
    ['stop', '`sluice -s quit`'],
    ['reload', '`sluice -s reload`'],
    ['restart', '`sluice -s reload`'],
    ['configtest', '`sluice -t`'],
    ['validate', '`sluice -t`'],
    ['version', '`sluice -v`'],
    ['foo', '`sluice help`'],
    ['hlep', 'did you mean `sluice help`?'],
    ['statsu', 'did you mean `sluice status`?'],
  ] as const) {
    const { code, stderr } = await runCli([word]);
    t.equal(code, 1, "nginx's exit code");
    t.match(stderr, new RegExp(`^sluice: invalid option: "${word}"\n    hint: [^\n]*\n$`));
    t.ok(stderr.includes(right), stderr);
  }
});

t.test('help, and commands without what they need', async (t) => {
  const help = await runCli(['help']);
  t.equal(help.code, 0);
  for (const name of ['serve', 'proxy', 'run', 'status', 'logs', 'cache', 'migrate']) {
    t.match(help.stdout, `  sluice ${name}`);
  }
  t.match((await runCli(['help', 'migrate'])).stdout, '--json');
  t.match(await runCli(['migrate']), { code: 2, stdout: '', stderr: /^sluice: migrate: the file is missing: [^\n]*\n$/ });
  t.match(await runCli(['cache']), { code: 2, stdout: '', stderr: /^sluice: cache: the action is missing: [^\n]*\n$/ });
  t.match(await runCli(['status', '--bogus']), { code: 2, stderr: /^sluice: status: Unknown argument: bogus\n$/ });
});
