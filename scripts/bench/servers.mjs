// Starts the servers to compare, each with one worker on the first core: the built sluice, a real nginx, and others.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { treeOf } from './measure.mjs';
import { others } from './others.mjs';
import { files, modified } from './rows.mjs';

const root = new URL('../../', import.meta.url).pathname;
const running = new Map();

// With this, each process of Node reads the system's certificates at its start: 30 ms and 5 MB that are not sluice's.
delete process.env.NODE_EXTRA_CA_CERTS;

/** The command line of each server; nginx is left out when there is none. */
export function commands(nginx) {
  const found = which(nginx);
  const dist = process.env.SLUICE_DIST ?? `${root}dist`;
  return { ...(found ? { nginx: [found] } : {}), sluice: [process.execPath, `${dist}/sluice.js`] };
}

function which(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`], { encoding: 'utf8' }).stdout.trim();
}

/**
 * The servers of the given names, `nginx` at this path: each with `prepare`, which writes its configuration of a row and resolves to what
 * it has against that, and `start`. Those that are not installed are left out. sluice stands there once for each of the given engines of
 * `net_engine`, under its name.
 */
export function contenders(nginx, names, engines = []) {
  const found = {};
  for (const [name, command] of Object.entries(commands(nginx))) {
    const several = name === 'sluice' && engines.length > 0;
    for (const engine of several ? engines : [undefined]) {
      found[engine ?? name] = {
        cannot: () => undefined,
        prepare(place, row) {
          row.prepare?.(place.dir);
          return prepare(command, place.dir, configuration({ ...place, row: { ...row, ...row.only?.[name] } }));
        },
        start: ({ dir, core }) => start(command, dir, core, engine === undefined ? '' : `net_engine ${engine};`),
      };
    }
  }
  for (const name of names) {
    if (!(name in others)) {
      throw new Error(`no such server: ${name} (${Object.keys(others).join(', ')})`);
    }
    const command = which(name);
    if (command === '') {
      console.log(`no ${name} here`);
    } else {
      found[name] = another(command, name, others[name]);
    }
  }
  return found;
}

function another(command, name, { configuration, test, run, env }) {
  return {
    cannot: (row) => (row[name] === undefined ? 'not a thing it can do' : undefined),
    prepare(place, row) {
      const file = `${place.dir}/server.conf`;
      writeFileSync(file, filled(configuration(place, row), place));
      const { status, stdout, stderr } = spawnSync(command, test(file), { encoding: 'utf8' });
      return status === 0 ? undefined : `${stdout}${stderr}`.trim().split('\n').pop();
    },
    // Caddy and HAProxy talk at each start.
    start: ({ dir, port }) =>
      launch([command, ...run(`${dir}/server.conf`)], 0, () => accepts(port), env(dir), ['ignore', 'inherit', 'ignore']),
  };
}

/** Prefixes a command so that it runs on one core, where the machine has several and taskset; null stands for all of them. */
export function pinned(core, command) {
  return canPin && core !== null ? ['taskset', '-c', String(core), ...command] : command;
}

const canPin = spawnSync('taskset', ['-c', '1', 'true']).status === 0;

export async function freePort() {
  const server = createServer();
  await new Promise((/** @type {(value?: any) => void} */ done) => server.listen(0, '127.0.0.1', done));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  await new Promise((/** @type {(value?: any) => void} */ done) => server.close(done));
  return port;
}

/**
 * The configuration of a row.
 * @param {{ dir: string, port: number, row: any, [part: string]: any }} parts
 */
export function configuration({ dir, docs, port, row, backend, responder, sink, echo, store }) {
  const text = `worker_processes ${row.workers ?? 1};
worker_rlimit_nofile 20000;
pid ${dir}/server.pid;
error_log ${dir}/error.log warn;
${row.main ?? ''}
events { worker_connections 8192; }
${row.stream === undefined ? http({ docs, port, row }) : stream({ port, row })}
`;
  return filled(text, { dir, docs, backend, responder, sink, echo, store });
}

const stream = ({ port, row }) => `stream {
  server {
    listen 127.0.0.1:${port}${row.tls ? ' ssl' : ''}${row.udp ? ' udp' : ''};
    ${row.stream}
  }
}`;

const http = ({ docs, port, row }) => `http {
  types { text/html html; }
  default_type application/octet-stream;
  access_log off;
  sendfile on;
  keepalive_timeout 60s;
  keepalive_requests 100000000;
  ${row.http ?? ''}
  server {
    listen 127.0.0.1:${port}${row.http3 ? ' quic' : row.tls ? ' ssl' : ''};
    root ${docs};
    ${row.server}
  }
}`;

function filled(text, { dir, docs, backend, responder, sink, echo, store }) {
  const places = {
    DIR: dir,
    DOCS: docs,
    BACKEND: backend?.plain,
    SECURE: backend?.secure,
    FASTCGI: responder,
    SINK: sink,
    ECHO: echo,
    STORE: store,
    CONF: `${root}conf`,
    BENCH: `${root}scripts/bench`,
  };
  return text.replaceAll(/%%([A-Z]+)%%/g, (_, name) => places[name]);
}

/** Writes the files under a root that rows ask for, but for the large one. */
export function writeDocuments(docs) {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(`${docs}/${name}`), { recursive: true });
    writeFileSync(`${docs}/${name}`, content);
    utimesSync(`${docs}/${name}`, modified, modified);
  }
}

/** Writes the configuration into a prefix and asks the server what it thinks of it; undefined when it can run. */
export function prepare(command, dir, conf) {
  mkdirSync(`${dir}/logs`, { recursive: true });
  writeFileSync(`${dir}/server.conf`, conf);
  const { status, stderr } = spawnSync(command[0], [...command.slice(1), '-t', '-p', `${dir}/`, '-c', 'server.conf', '-e', 'error.log'], {
    encoding: 'utf8',
  });
  return status === 0 ? undefined : (/\[emerg\].*?(?= in )/.exec(stderr)?.[0] ?? stderr.trim().split('\n')[0]);
}

/**
 * Starts a server on a core (or on several, as `taskset` takes them), or with null on all of them; resolves with the master's process id
 * once it accepts connections.
 * @param {string[]} command
 * @param {string} dir
 * @param {number | string | null} core
 */
export function start(command, dir, core = 0, globals = '') {
  const pidFile = `${dir}/server.pid`;
  const args = ['-p', `${dir}/`, '-c', 'server.conf', '-e', 'error.log', '-g', `daemon off; ${globals}`];
  return launch([...command, ...args], core, () => existsSync(pidFile) && readFileSync(pidFile, 'latin1').trim() !== '');
}

/**
 * @param {string[]} command
 * @param {number | string | null} core
 * @param {() => unknown} ready
 * @param {import('node:child_process').StdioOptions} stdio
 */
async function launch(command, core, ready, env = {}, stdio = ['ignore', 'inherit', 'inherit']) {
  const [file, ...args] = pinned(core, command);
  const child = spawn(file, args, { stdio, detached: true, env: { ...process.env, ...env } });
  const pid = /** @type {number} */ (child.pid);
  running.set(pid, child);
  for (const until = Date.now() + 30_000; ; ) {
    if (await ready()) {
      return pid;
    }
    if (child.exitCode !== null || Date.now() > until) {
      throw new Error(`${command.join(' ')} did not start`);
    }
    await sleep(10);
  }
}

/** Whether somebody listens at a port. */
function accepts(port) {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}

/** Ends a server and all its processes. */
export async function stop(pid) {
  const child = running.get(pid);
  if (child === undefined) {
    return;
  }
  running.delete(pid);
  const tree = treeOf(pid);
  kill(pid, 'SIGTERM');
  for (const until = Date.now() + 3000; child.exitCode === null && child.signalCode === null && Date.now() < until; ) {
    await sleep(10);
  }
  for (const each of tree) {
    kill(each);
  }
}

/** A new folder below `parent` for a benchmark; it goes with this process, and so does every server that still runs. */
export function workFolder(parent = tmpdir()) {
  const work = mkdtempSync(join(parent, 'sluice-bench-'));
  chmodSync(work, 0o755);
  process.once('exit', () => {
    for (const pid of running.keys()) {
      kill(-pid);
    }
    rmSync(work, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => process.exit(1));
  }
  return work;
}

/** Sends a signal to a process, or with a negative number to its group, that may be gone. */
export function kill(pid, signal = 'SIGKILL') {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
}

/** The backend of the proxied rows: an nginx on the core of the load generator. Returns its address, and the one where it speaks TLS. */
export async function startBackend(command, dir, docs) {
  const port = await freePort();
  const secure = await freePort();
  mkdirSync(`${dir}/logs`, { recursive: true });
  makeCertificate(dir, 'ecdsa');
  writeFileSync(`${dir}/1m.bin`, Buffer.alloc(1024 * 1024, 'a megabyte '));
  writeFileSync(
    `${dir}/server.conf`,
    `worker_processes 1; pid ${dir}/server.pid; error_log ${dir}/error.log warn; events { worker_connections 4096; }
http { access_log off; keepalive_requests 100000000; types { text/html html; } sendfile on;
server { listen 127.0.0.1:${port}; listen 127.0.0.1:${secure} ssl; http2 on; ssl_certificate ${dir}/tls.crt; ssl_certificate_key ${dir}/tls.key;
  location /grpc { default_type application/grpc; add_trailer grpc-status 0; return 200 "12345hello"; }
  location /files/ { alias ${docs}/; } location / { return 200 "a small response"; } location = /1m.bin { root ${dir}; }
  location /600 { return 200 "${'x'.repeat(600)}"; } } }
`,
  );
  await start(command, dir, 1);
  return { plain: `127.0.0.1:${port}`, secure: `127.0.0.1:${secure}` };
}

/** The backend of the FastCGI rows, which answers with this page to who asks for one. */
export const startResponder = (page) => startScript('fastcgi-responder', page);

/** The backend of the rows that send much: it reads uploads and echoes WebSockets. */
export const startSink = () => startScript('sink');

/** Starts a Redis or Valkey with nothing in it; undefined where neither is installed. */
export async function startStore() {
  const command = which('valkey-server') || which('redis-server');
  if (command === '') {
    return undefined;
  }
  const port = await freePort();
  const [file, ...args] = pinned(1, [command, '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']);
  const child = spawn(file, args, { stdio: 'ignore', detached: true });
  const pid = /** @type {number} */ (child.pid);
  running.set(pid, child);
  child.unref();
  while (!(await accepts(port))) {
    await sleep(20);
  }
  return `127.0.0.1:${port}`;
}

/** Starts a backend written for this, on the core of the load generator, and returns its address. */
async function startScript(name, ...options) {
  const port = await freePort();
  const [file, ...args] = pinned(1, [process.execPath, `${root}scripts/bench/${name}.mjs`, String(port), ...options]);
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true });
  const pid = /** @type {number} */ (child.pid);
  running.set(pid, child);
  await new Promise((/** @type {(value?: any) => void} */ done) => child.once('message', done));
  child.disconnect();
  child.unref();
  return `127.0.0.1:${port}`;
}

/** A certificate of its own for the TLS rows, with an `ecdsa` or an `rsa` key. */
export function makeCertificate(dir, kind) {
  const key = kind === 'rsa' ? ['rsa:2048'] : ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const args = ['req', '-x509', '-nodes', '-days', '30', '-newkey', ...key, '-subj', '/CN=localhost'];
  execFileSync('openssl', [...args, '-keyout', `${dir}/tls.key`, '-out', `${dir}/tls.crt`], { stdio: 'ignore' });
  writeFileSync(`${dir}/tls.pem`, readFileSync(`${dir}/tls.crt`, 'latin1') + readFileSync(`${dir}/tls.key`, 'latin1'));
}
