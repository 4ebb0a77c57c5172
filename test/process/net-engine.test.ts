import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { makeRing } from '../../src/shared/net/engine/choose.js';
import { againstNginx, serverCommand } from '../support/binary.js';
import { startOrigin } from '../support/origin.js';
import { makePrefix } from '../support/prefix.js';
import { http, httpGet } from '../support/raw-client.js';
import { runCli, testConfig } from '../support/run-cli.js';
import { type Server, type ServerOptions, serverConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('nginx has no such choice');
}

const root = new URL('../../', import.meta.url).pathname;
const helper = `${root}test/support/without-uring.mjs`;
const ring = makeRing();
const needsRing = { skip: typeof ring === 'string' && `no io_uring: ${ring}` };

/** A handler that closes the descriptor of its worker's ring, but not libuv's own, without which Node ends: these have 256 entries. */
const BREAK = `
  import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
  function breakRing(r) {
    for (const fd of readdirSync('/proc/self/fd')) {
      let path = '';
      try {
        path = readlinkSync('/proc/self/fd/' + fd);
      } catch {}
      if (path === 'anon_inode:[io_uring]' && !/^SqMask:\\s*0xff$/m.test(readFileSync('/proc/self/fdinfo/' + fd, 'latin1'))) {
        closeSync(Number(fd));
      }
    }
    r.return(200);
  }
  export default { breakRing };`;

/** A server that has a file and a backend, with this engine. */
async function start(t: Test, engine: string, more: Partial<ServerOptions> = {}): Promise<Server> {
  const origin = await startOrigin(t, () => ({ body: 'from the backend' }));
  return startServer(t, {
    conf: `net_engine ${engine};\n${serverConf(`location /p/ { proxy_pass http://127.0.0.1:${origin.port}; }`)}`,
    files: { 'html/file.txt': 'the file' },
    asRoot: true,
    ...more,
  });
}

async function serves(t: Test, server: Server): Promise<void> {
  t.equal((await httpGet(server, '/file.txt')).text, 'the file');
  t.equal((await httpGet(server, '/p/')).text, 'from the backend');
}

const engineLine = (server: Server): string | undefined => /using the .*/.exec(server.log())?.[0];

t.test('io_uring', needsRing, async (t) => {
  for (const engine of ['uring', 'auto']) {
    const server = await start(t, engine);
    await serves(t, server);
    t.equal(engineLine(server), 'using the "uring" network engine');
    const status = await runCli(['status', '-p', `${server.dir}/`, '-c', 'sluice.conf', '-g', `pid ${server.dir}/server.pid;`]);
    t.match(status.stdout, / worker process since .* on uring/);
  }
  t.match((await runCli(['-V'])).stderr, /^network engines: libuv uring$/m);
});

t.test('libuv', async (t) => {
  const server = await start(t, 'libuv');
  await serves(t, server);
  t.equal(engineLine(server), 'using the "libuv" network engine');
});

/** What runs a server where the system calls of io_uring from `first` to `last` fail with this error number, or kill who makes them. */
const without = (first: number, last: number, answer: number | 'kill'): readonly string[] => [
  '/usr/bin/env',
  '-u',
  'NODE_OPTIONS',
  process.execPath,
  helper,
  ...[first, last, answer].map(String),
];
const [SETUP, ENTER, REGISTER] = [425, 426, 427];

t.test('a system that forbids io_uring', needsRing, async (t) => {
  const why = 'using the "libuv" network engine: io_uring_setup() failed (1: Operation not permitted)';
  for (const engine of ['auto', 'uring']) {
    const server = await start(t, engine, { within: without(SETUP, REGISTER, 1) });
    await serves(t, server);
    t.equal(engineLine(server), why);
    t.match(server.log(), engine === 'auto' ? '[notice]' : '[warn]');
  }
});

t.test('a ring that cannot be made', needsRing, async (t) => {
  for (const [first, errno, why] of [
    [SETUP, 12, 'io_uring_setup() failed (12: Cannot allocate memory)'],
    [SETUP, 24, 'io_uring_setup() failed (24: Too many open files)'],
    [SETUP, 38, 'io_uring_setup() failed (38: Function not implemented)'],
    // Since Node 22 libuv has a ring, and ends the process when it cannot enter it.
    ...(startsWithout(ENTER, 1) ? ([[ENTER, 1, 'io_uring_enter() failed (1)']] as const) : []),
    [REGISTER, 12, 'io_uring_register() failed (12: Cannot allocate memory)'],
  ] as const) {
    const server = await start(t, 'auto', { within: without(first, first, errno) });
    await serves(t, server);
    t.equal(engineLine(server), `using the "libuv" network engine: ${why}`);
    t.equal(
      openRings(server),
      openRings(await start(t, 'libuv', { within: without(first, first, errno) })),
      `${why}: nothing of it is left`,
    );
  }
});

t.test('a system that kills who uses io_uring', needsRing, async (t) => {
  // A kill at io_uring_setup or io_uring_enter ends Node itself, which has rings of its own.
  const within = without(REGISTER, REGISTER, 'kill');
  const conf = serverConf('location /one { return 200 "one"; }');
  const lost = /worker process \d+ was ended by signal 31 while it began to use io_uring, using "libuv" from now on/g;
  const server = await startServer(t, {
    conf: `net_engine uring;\nworker_processes 2;\n${conf}`,
    within,
    asRoot: true,
    expectAlerts: /exited on signal 31/,
  });
  t.equal((await httpGet(server, '/one')).text, 'one');
  t.equal(server.workers().length, 2);
  t.match(server.log(), '[warn]');
  t.equal(server.log().match(lost)?.length, 1, 'it is said once');
  t.equal(engineLine(server), 'using the "libuv" network engine');
  const deaths = server.log().split('exited on signal').length;
  await server.reload(`net_engine auto;\nworker_processes 2;\n${conf.replace('"one"', '"two"')}`);
  t.equal((await httpGet(server, '/one')).text, 'two');
  t.equal(server.log().split('exited on signal').length, deaths, 'no other one dies');
  const alone = await startServer(t, { conf: `master_process off;\n${conf}`, within, asRoot: true });
  t.equal((await httpGet(alone, '/one')).text, 'one');
  const why = 'a process that tried io_uring was ended by signal 31';
  t.match(alone.log(), `[warn] ${alone.pid}#${alone.pid}: ${why}, using "libuv"`);
  t.equal(engineLine(alone), 'using the "libuv" network engine');
  await alone.configure(`master_process off;\n${conf.replace('"one"', '"two"')}`);
  alone.signal('HUP');
  while ((await httpGet(alone, '/one')).text !== 'two') {
    // The old configuration's.
  }
  t.equal(alone.log().split(why).length, 2, 'it is said once');
  const [command, ...args] = [...within, ...serverCommand()] as [string, ...string[]];
  const shown = spawnSync(command, [...args, '-V'], { encoding: 'utf8' });
  t.match(shown.stderr, `network engines: libuv (no uring: ${why})\n`);
  t.equal(shown.status, 0);
  const tested = spawnSync(command, [...args, '-t', '-p', `${server.dir}/`, '-c', 'sluice.conf', '-e', 'stderr'], { encoding: 'utf8' });
  t.match(tested.stderr, 'test is successful');
});

t.test('a fault in what calls the kernel', needsRing, async (t) => {
  const { dir } = await makePrefix(t, {
    'fault.mjs': `import { createRequire } from 'node:module';
      const { resolve } = createRequire(process.argv[1]);
      const koffi = createRequire(resolve('koffi'))('@koromix/koffi-linux-' + process.arch);
      koffi.load = () => {
        process.kill(process.pid, 'SIGSEGV');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      };`,
  });
  const server = await start(t, 'auto', { preload: `file://${dir}/fault.mjs`, expectAlerts: /exited on signal 11/ });
  await serves(t, server);
  t.match(server.log(), 'was ended by signal 11 while it began to use io_uring, using "libuv" from now on');
  t.equal(server.log().split('exited on signal').length, 2, 'the next one does not begin to use it, nor does the master');
  await server.reload();
  await serves(t, server);
});

t.test('workers on a ring that signals end: libuv takes over', needsRing, async (t) => {
  const server = await start(t, 'uring', { expectAlerts: /exited on signal (7|9|11)/ });
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    const [worker] = server.workers();
    process.kill(worker as number, signal);
    await server.logged(`worker process ${worker} exited on signal`);
    await serves(t, server);
  };
  await kill('SIGKILL');
  await kill('SIGSEGV');
  await kill('SIGKILL');
  await kill('SIGBUS');
  t.notMatch(server.log(), 'libuv', 'two are no more than a chance');
  await kill('SIGSEGV');
  t.match(
    server.log(),
    '[warn] ' +
      `${server.pid}#${server.pid}: 3 processes ended because their io_uring broke or were ended by signals, the latest by signal 11, ` +
      'using "libuv" from now on',
  );
  await server.logged('using the "libuv" network engine');
  const before = server.log().length;
  for (let i = 0; i < 3; i++) {
    await kill('SIGSEGV');
  }
  t.notMatch(server.log().slice(before), 'io_uring', 'one without a ring has none to break');
});

/** How many rings the workers have, libuv's own among them. */
const openRings = (server: Server): number =>
  server
    .workers()
    .flatMap((pid) => readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)))
    .filter((path) => path.includes('io_uring')).length;

/** Whether Node itself starts where a system call fails. */
function startsWithout(call: number, errno: number): boolean {
  const [command, ...args] = without(call, call, errno) as [string, ...string[]];
  return spawnSync(command, [...args, process.execPath, '-e', '0']).status === 0;
}

t.test('no memory that may be locked', needsRing, async (t) => {
  const server = await start(t, 'auto', { within: ['/bin/sh', '-c', 'ulimit -l 0; exec "$@"', 'sh'], asRoot: false });
  await serves(t, server);
  t.match(engineLine(server), /^using the "(uring|libuv)" network engine/);
});

t.test('a checkout without koffi', async (t) => {
  const { dir } = await makePrefix(t);
  cpSync(process.env.SLUICE_DIST ?? `${root}dist`, `${dir}/dist`, { recursive: true });
  mkdirSync(`${dir}/node_modules`);
  for (const name of readdirSync(`${root}node_modules`)) {
    if (!name.startsWith('.') && name !== 'koffi' && name !== '@koromix') {
      symlinkSync(`${root}node_modules/${name}`, `${dir}/node_modules/${name}`);
    }
  }
  const before = process.env.SLUICE_DIST;
  process.env.SLUICE_DIST = `${dir}/dist`;
  t.teardown(() => {
    if (before === undefined) {
      delete process.env.SLUICE_DIST;
    } else {
      process.env.SLUICE_DIST = before;
    }
  });
  const listen = 'listen 127.0.0.1:%%PORT_0%%';
  const conf = serverConf('location /info { return 200 "$tcpinfo_rtt."; }').replace(
    listen,
    `${listen} rcvbuf=16k sndbuf=16k fastopen=3 deferred reuseport so_keepalive=30::`,
  );
  const { stderr } = await testConfig(t, conf);
  for (const name of ['rcvbuf', 'sndbuf', 'fastopen', 'deferred']) {
    t.match(stderr, `[warn] the "${name}" parameter has no effect: Node cannot set this option of a socket in `);
  }
  t.match(stderr, '[warn] the "reuseport" parameter has no effect: all workers accept from one socket in ');
  t.match(stderr, '[warn] the times of the "so_keepalive" parameter have no effect: Node cannot set this option of a socket in ');
  t.match(stderr, '[warn] the "$tcpinfo_rtt" variable is always empty: ');
  t.equal((await httpGet(await startServer(t, { conf, asRoot: true }), '/info')).text, '.');
  const closed = await startServer(t, {
    conf: serverConf('auth_basic x; auth_basic_user_file users;'),
    files: { users: 'a:$y$j9T$abcdefgh$IUWJt2doU4Kf6E/JP1UkAT3S5O3Q7SSA8SJirXIlEu9' },
    asRoot: true,
  });
  t.equal((await httpGet(closed, '/', { Authorization: `Basic ${btoa('a:secret')}` })).status, 500);
  t.match(closed.log(), 'crypt_r() failed (22: Invalid argument)');
  const limited = await startServer(t, { conf: `worker_rlimit_nofile 4321; worker_cpu_affinity 01;\n${conf}` });
  const [worker] = limited.workers();
  t.match(readFileSync(`/proc/${worker}/limits`, 'latin1'), /^Max open files +4321 +4321 /m, 'by the commands prlimit and taskset');
  t.match(readFileSync(`/proc/${worker}/status`, 'latin1'), /^Cpus_allowed_list:\t0$/m);
  const server = await start(t, 'auto');
  await serves(t, server);
  t.equal(engineLine(server), 'using the "libuv" network engine: the package koffi is not installed');
  t.match((await runCli(['-V'])).stderr, /^network engines: libuv \(no uring: the package koffi is not installed\)$/m);
  t.comment('one that is there, without its binary and with a broken one');
  for (const part of ['index.cjs', 'package.json', 'lib', 'src/koffi']) {
    cpSync(`${root}node_modules/koffi/${part}`, `${dir}/node_modules/koffi/${part}`, { recursive: true });
  }
  const why = async () => /^network engines: libuv \(no uring: (.*)\)$/m.exec((await runCli(['-V'])).stderr)?.[1] ?? '';
  t.match(await why(), /^the package koffi cannot be loaded: Cannot find the native Koffi module/);
  const binaries = `${dir}/node_modules/@koromix`;
  cpSync(`${root}node_modules/@koromix`, binaries, { recursive: true });
  for (const name of readdirSync(binaries, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.node'))) {
    writeFileSync(`${binaries}/${name}`, 'no program');
  }
  t.match(await why(), /^the package koffi cannot be loaded: .*koffi\.node: \S/);
});

t.test('kill -9 in the middle: the worker that follows serves', needsRing, async (t) => {
  const server = await start(t, 'uring', { expectAlerts: /exited on signal 9/ });
  await serves(t, server);
  const [worker] = server.workers();
  process.kill(worker!, 'SIGKILL');
  await server.logged('exited on signal 9');
  t.equal((await http(server, 'GET /file.txt HTTP/1.0\r\n\r\n')).text, 'the file');
});

t.test('rings that break: libuv takes over', needsRing, async (t) => {
  const server = await startServer(t, {
    conf: `net_engine uring;\n${serverConf('location /break { js_content main.breakRing; }', 'js_import main from break.mjs;')}`,
    files: { 'html/file.txt': 'the file', 'break.mjs': BREAK },
    expectAlerts: /io_uring_enter\(\) failed \(9\)|exited with code 3/,
  });
  const left = 'processes ended because their io_uring broke, using "libuv" from now on';
  while (!server.log().includes(left)) {
    await httpGet(server, '/break').catch(() => {});
  }
  await server.logged('using the "libuv" network engine');
  t.equal((await http(server, 'GET /file.txt HTTP/1.0\r\n\r\n')).text, 'the file');
});

t.test('messages', async (t) => {
  t.match(
    (await testConfig(t, 'net_engine epoll; events {}')).stderr,
    '[emerg] invalid value "epoll" in "net_engine" directive, it must be "auto", "uring" or "libuv" in ',
  );
  t.match((await testConfig(t, 'net_engine auto; net_engine auto; events {}')).stderr, '"net_engine" directive is duplicate');
});
