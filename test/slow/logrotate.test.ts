import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { RawClient, requestText } from '../support/raw-client.js';
import { startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const missing =
  spawnSync('logrotate', ['--version']).error !== undefined
    ? 'no logrotate'
    : !existsSync('/proc/self/fd') && 'no /proc to see which files are open';

t.test('logrotate with the shipped file, ten times under load', { skip: missing }, async (t) => {
  const isRoot = process.getuid?.() === 0;
  // The shipped file names the user of the package; here the workers are nobody, or whoever runs the tests.
  const owner = isRoot ? 'nobody' : userInfo().username;
  const group = execFileSync('id', ['-gn', owner], { encoding: 'utf8' }).trim();
  const server = await startServer(t, {
    conf: `worker_processes 2; events {} http { log_format n "$arg_n $request_uri end";
      access_log %%DIR%%/var/log/access.log n; access_log %%DIR%%/var/log/buffered.log n buffer=8k flush=1s;
      server { listen 127.0.0.1:%%PORT_0%%; location / { return 200; } } }`,
    files: { 'var/log/other/keep': '' },
  });
  const logs = `${server.dir}/var/log`;
  const shipped = readFileSync(new URL('../../conf/logrotate/sluice', import.meta.url), 'utf8');
  const rotation = shipped
    .replaceAll('/var/log/sluice', logs)
    .replaceAll('/run/sluice/sluice.pid', `${server.dir}/server.pid`)
    .replace('create 0640 sluice adm', `create 0640 ${owner} ${group}`);
  t.not(rotation.indexOf(`create 0640 ${owner}`), -1);
  await server.write('rotation', rotation);

  let sent = 0;
  let stopped = false;
  const path = `/${'p'.repeat(200)}`;
  const clients = Array.from({ length: 6 }, async () => {
    while (!stopped) {
      // Ten requests a connection, so that all workers see some.
      const client = await RawClient.connect(server);
      for (let i = 0; i < 10; i++) {
        client.send(requestText('GET', `${path}?n=${sent++}`));
        const { status } = await client.response();
        if (status !== 200) {
          throw new Error(`status ${status}`);
        }
      }
      client.destroy();
    }
  });
  const openLogs = (pid: number): string[] =>
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
        return target.startsWith(logs) ? [target] : [];
      } catch {
        return [];
      }
    });
  for (let round = 0; round < 10; round++) {
    const before = sent;
    await waitFor(() => sent >= before + 40);
    execFileSync('logrotate', ['--force', '--state', `${server.dir}/state`, `${server.dir}/rotation`]);
    // Rounds are days apart in life: here the next one waits until nobody holds the renamed files.
    await waitFor(() => [server.pid, ...server.workers()].every((pid) => openLogs(pid).every((target) => !/\.\d+$/.test(target))));
    // An empty log is not rotated (`notifempty`), so what is said of owner and mode holds for the one that is written at once.
    t.equal(statSync(`${logs}/access.log`).mode & 0o777, 0o640);
    t.equal(execFileSync('stat', ['-c', '%U:%G', `${logs}/access.log`], { encoding: 'utf8' }).trim(), `${owner}:${group}`);
  }
  stopped = true;
  await Promise.all(clients);
  await server.stop('QUIT');
  for (const [name, rotated] of [
    ['access.log', 11],
    ['buffered.log', 3],
  ] as const) {
    const files = readdirSync(logs).filter((file) => file.startsWith(name));
    t.ok(files.length >= rotated, `${name} in ${files.length} files`);
    const text = files
      .map((file) => readFileSync(`${logs}/${file}`))
      .map((data, i) => (files[i]?.endsWith('.gz') ? gunzipSync(data) : data).toString('latin1'))
      .join('');
    const numbers = text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const n = line.slice(0, line.indexOf(' '));
        return line === `${n} ${path}?n=${n} end` ? Number(n) : line;
      });
    t.strictSame(
      numbers.sort((a, b) => Number(a) - Number(b)),
      Array.from({ length: sent }, (_, n) => n),
      `${name}: each of ${sent} requests once, each line whole`,
    );
  }
  t.notMatch(server.log(), /emerg|crit/);
});
