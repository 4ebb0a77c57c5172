import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { httpGet } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { serverConf, startServer } from '../support/server.js';

const root = process.getuid?.() === 0;
const conf = serverConf('location / { return 200 hello; }');
const proc = (pid: number, file: string) => readFileSync(`/proc/${pid}/${file}`, 'latin1');

t.test('limits, priority, CPUs and folder of a worker', { skip: !root && 'needs root' }, async (t) => {
  const settings =
    'worker_rlimit_nofile 4321; worker_rlimit_core 10m; worker_priority 3; worker_cpu_affinity 01; working_directory %%DIR%%/logs;';
  const s = await startServer(t, { conf: `${settings}\n${conf}` });
  const [worker = 0] = s.workers();
  t.match(proc(worker, 'limits'), /^Max open files +4321 +4321 /m);
  t.match(proc(worker, 'limits'), /^Max core file size +10485760 +10485760 /m);
  for (const thread of readdirSync(`/proc/${worker}/task`)) {
    t.match(proc(worker, `task/${thread}/status`), /^Cpus_allowed_list:\t0$/m);
  }
  t.equal(proc(worker, 'stat').split(') ')[1]?.split(' ')[16], '3', 'nice value');
  t.equal(readlinkSync(`/proc/${worker}/cwd`), `${s.dir}/logs`);
  t.equal((await httpGet(s, '/')).text, 'hello');
});

t.test('what the system refuses is said as nginx says it', { skip: !root && 'needs root' }, async (t) => {
  const s = await startServer(t, {
    conf: `worker_rlimit_nofile 99999999999; worker_cpu_affinity 1${'0'.repeat(1000)};\n${conf}`,
    expectAlerts: /setrlimit|sched_setaffinity/,
  });
  t.match(s.log(), /\[alert\] \d+#\d+: setrlimit\(RLIMIT_NOFILE, 99999999999\) failed \(1: Operation not permitted\)\n/);
  t.match(s.log(), /\[alert\] \d+#\d+: sched_setaffinity\(\) failed \(22: Invalid argument\)\n/);
  t.equal((await httpGet(s, '/')).text, 'hello');
});

t.test('a folder that is not there keeps the workers from starting', async (t) => {
  const { dir } = await makePrefix(t, { 'sluice.conf': `working_directory %%DIR%%/none; pid %%DIR%%/x.pid;\n${conf}` });
  // nginx would be up without workers.
  if (againstNginx) {
    return;
  }
  const { code, stderr } = await runCli(['-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'error.log', '-g', 'daemon off;']);
  t.equal(code, 1);
  t.match(stderr, `sluice: [emerg] chdir("${dir}/none") failed (2: No such file or directory)\n`);
  t.match(readFileSync(`${dir}/error.log`, 'latin1'), /\[alert\] \d+#\d+: chdir/);
});

t.test('groups of a worker', { skip: !root && 'needs root' }, async (t) => {
  const s = await startServer(t, { conf: `user daemon nogroup;\n${conf}` });
  const [worker = 0] = s.workers();
  const nogroup = /^nogroup:[^:]*:(\d+):/m.exec(readFileSync('/etc/group', 'latin1'))?.[1];
  t.match(proc(worker, 'status'), new RegExp(`^Uid:\t1\t1\t1\t1\nGid:\t${nogroup}\t${nogroup}\t`, 'm'));
  t.match(proc(worker, 'status'), new RegExp(`^Groups:\t${nogroup} $`, 'm'), 'none of root');
});
