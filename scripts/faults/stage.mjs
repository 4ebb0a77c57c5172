// What a drill works with: one server (sluice or nginx) on a configuration in a folder of its own, its backend, and clients.
import { fork, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { list, memoryOf, read, treeOf } from '../bench/measure.mjs';
import { freePort, kill, makeCertificate, prepare, start, stop } from '../bench/servers.mjs';

const here = new URL('.', import.meta.url).pathname;

export class Stage {
  /** How many workers the server has; a drill may set it before it starts one. */
  workerCount = 2;
  #command;
  #ports = [];
  #children = [];

  constructor({ server, command, dir, short, engine, env }) {
    this.server = server;
    this.short = short;
    this.dir = dir;
    this.env = env;
    this.engine = engine;
    this.#command = command;
    mkdirSync(`${dir}/html`, { recursive: true });
    writeFileSync(`${dir}/html/small`, 'a small file');
    writeFileSync(`${dir}/html/large`, Buffer.alloc(5_000_000, 'large file '));
    makeCertificate(dir);
  }

  get sluice() {
    return this.server === 'sluice';
  }

  /** Starts the backend; its port stands for %%ORIGIN%% in configurations. */
  async origin() {
    const child = this.#fork('origin.mjs');
    this.originPort = await new Promise((done) => child.once('message', done));
  }

  /** Starts another process, which ends with the drill: `answer` is what it says first, `ask` resolves with what it says to a message. */
  async helper(file, ...args) {
    const child = this.#fork(file, args.map(String));
    const next = () => new Promise((done) => child.once('message', done));
    const answer = await next();
    return {
      child,
      answer,
      ask: (message) => {
        const said = next();
        child.send(message);
        return said;
      },
    };
  }

  #fork(file, args = []) {
    const child = fork(`${here}${file}`, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#children.push(child);
    return child;
  }

  port(n) {
    return this.#ports[n];
  }

  /** %%DIR%%, %%PORT_n%% and %%ORIGIN%% filled in. */
  fill(conf) {
    return conf
      .replaceAll('%%DIR%%', this.dir)
      .replaceAll('%%ORIGIN%%', `127.0.0.1:${this.originPort}`)
      .replace(/%%PORT_(\d)%%/g, (_all, n) => this.#ports[n]);
  }

  /** The frame of a drill's configuration around its http block's content. */
  conf(http, main = '') {
    return this.fill(`worker_processes ${this.workerCount};
pid %%DIR%%/server.pid;
error_log %%DIR%%/error.log notice;
${main.includes('worker_rlimit_nofile') ? '' : 'worker_rlimit_nofile 20000;'}
${this.engine === undefined ? '' : `net_engine ${this.engine};`}
${main}
${main.includes('events') ? '' : 'events { worker_connections 15000; }'}
http {
  ${http.includes('access_log') ? '' : 'access_log off;'}
  client_body_temp_path %%DIR%%/client_temp;
  proxy_temp_path %%DIR%%/proxy_temp;
  keepalive_requests 100000000;
  root %%DIR%%/html;
  ${this.sluice ? '' : 'keepalive_min_timeout 2s;'}
  ${http}
}
`);
  }

  async start(http, main) {
    await this.prepare(http, main);
    await this.run();
  }

  /** Writes the configuration, which the server finds right. */
  async prepare(http, main) {
    if (this.#ports.length === 0) {
      this.#ports.push(...(await Promise.all([freePort(), freePort(), freePort(), freePort()])));
    }
    const conf = this.conf(http, main);
    const refusal = prepare(this.#command, this.dir, conf);
    if (refusal !== undefined) {
      throw new Error(`${this.server}: ${refusal}`);
    }
  }

  /**
   * Runs the executable file as a shell does, with these global directives, and does not wait; it writes its errors to the file
   * `stderr`.
   */
  launch(globals) {
    const [file, ...args] = this.sluice ? this.#command.slice(1) : this.#command;
    const stderr = openSync(`${this.dir}/stderr`, 'a');
    const child = spawn(file, [...args, '-p', `${this.dir}/`, '-c', 'server.conf', '-e', 'error.log', '-g', globals], {
      stdio: ['ignore', 'ignore', stderr],
    });
    closeSync(stderr);
    return child;
  }

  /** Starts on the configuration as it stands in the folder. */
  async run() {
    const before = { ...process.env };
    Object.assign(process.env, this.env);
    try {
      this.child = await start(this.#command, this.dir);
    } finally {
      for (const name of Object.keys(this.env ?? {})) {
        if (!(name in before)) {
          delete process.env[name];
        }
      }
    }
  }

  /** The master's process id, from the pid file. */
  get pid() {
    return Number(read(`${this.dir}/server.pid`)) || undefined;
  }

  configure(http, main) {
    writeFileSync(`${this.dir}/server.conf`, this.conf(http, main));
  }

  signal(name) {
    process.kill(/** @type {number} */ (this.pid), `SIG${name}`);
  }

  /** HUP, until all workers are others than before. */
  async reload() {
    const old = this.workers();
    this.signal('HUP');
    await this.until(() => {
      const now = this.workers();
      return now.length === this.workerCount && !now.some((pid) => old.includes(pid));
    }, 'new workers');
  }

  /** Process ids of the workers that serve; those that leave after a reload are not among them. */
  workers() {
    return this.pid === undefined ? [] : treeOf(this.pid).filter((pid) => / worker process$/.test(title(pid)));
  }

  /** Whether all of these workers still serve. */
  serve(workers) {
    const now = this.workers();
    return workers.every((pid) => now.includes(pid));
  }

  /** All processes of the server by now, the master first. */
  processes() {
    return this.pid === undefined ? [] : treeOf(this.pid);
  }

  /** Resident memory of the server's processes, MB. */
  memory() {
    return this.pid === undefined ? 0 : memoryOf(this.pid);
  }

  /** Open descriptors of the server's processes. */
  descriptors() {
    return this.processes().reduce((sum, pid) => sum + list(`/proc/${pid}/fd`).length, 0);
  }

  log() {
    return read(`${this.dir}/error.log`);
  }

  /** What a server that `launch` started wrote to standard error. */
  stderr() {
    return read(`${this.dir}/stderr`);
  }

  /** Clients that go on until `stop`, which resolves with what they counted. */
  load(...clients) {
    const child = this.#fork('load.mjs');
    child.send({ clients });
    const answer = (message) =>
      new Promise((done, fail) => {
        const early = () => fail(new Error('the clients ended early'));
        child.once('exit', early).once('message', (counted) => {
          child.off('exit', early);
          done(counted);
        });
        child.send(message);
      });
    return {
      stop: () => answer('stop'),
      report: () => answer('report'),
      /** Resolves when so many were answered. */
      answered: async (count) => {
        while ((await answer('report')).answered < count) {
          await sleep(50);
        }
      },
    };
  }

  /** Many connections at once; `done` resolves with `open` and `refused` once all stand, which they do until `end`. */
  crowd(what) {
    const child = this.#fork('crowd.mjs');
    const done = new Promise((resolve) => child.once('message', resolve));
    child.send({ port: this.port(0), ...what });
    return { done, end: () => child.kill('SIGKILL') };
  }

  /** A request of its own on a new connection, with its answer as text; undefined when there is none in time. */
  async get(path, { port = this.port(0), headers = '', method = 'GET', patience = 5000 } = {}) {
    return this.raw(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`, { port, patience });
  }

  async raw(bytes, { port = this.port(0), patience = 5000 } = {}) {
    const { connect } = await import('node:net');
    return new Promise((resolve) => {
      let text = '';
      const socket = connect(port, '127.0.0.1');
      const timer = setTimeout(() => socket.destroy(), patience);
      socket.on('data', (chunk) => (text += chunk.latin1Slice()));
      socket.on('error', () => {});
      socket.on('close', () => {
        clearTimeout(timer);
        resolve(text === '' ? undefined : text);
      });
      socket.write(bytes, 'latin1');
    });
  }

  async until(condition, what, patience = 30_000) {
    for (const end = Date.now() + patience; ; ) {
      const value = await condition();
      if (value) {
        return value;
      }
      if (Date.now() > end) {
        throw new Error(`${this.server}: waited in vain for ${what}`);
      }
      await sleep(20);
    }
  }

  async end() {
    this.#endClients();
    const tree = this.processes();
    if (this.child !== undefined) {
      await stop(this.child);
    }
    for (const pid of tree) {
      kill(pid);
    }
  }

  /** Kills everything, without waiting, when this process is told to end in the middle of a drill. */
  abandon() {
    this.#endClients();
    for (const pid of this.processes()) {
      kill(pid);
    }
  }

  #endClients() {
    for (const child of this.#children) {
      child.kill('SIGKILL');
    }
  }
}

/** Clients for the usual locations; `over` changes single fields. */
export const clients = {
  keepAlive: (stage, count, over) => ({
    kind: 'keep-alive',
    name: 'keepAlive',
    count,
    port: stage.port(0),
    request: get('/small'),
    body: 'a small file',
    ...over,
  }),
  close: (stage, count, over) => ({
    kind: 'close',
    name: 'close',
    count,
    port: stage.port(0),
    request: get('/small', 'Connection: close\r\n'),
    body: 'a small file',
    ...over,
  }),
  proxied: (stage, count, over) => ({
    kind: 'keep-alive',
    name: 'proxied',
    count,
    port: stage.port(0),
    request: get('/proxy/a'),
    body: 'body of /proxy/a',
    ...over,
  }),
  tls: (stage, count, over) => ({
    kind: 'keep-alive',
    name: 'tls',
    count,
    port: stage.port(1),
    tls: true,
    request: get('/small'),
    body: 'a small file',
    ...over,
  }),
  download: (stage, count, over) => ({
    kind: 'download',
    name: 'download',
    count,
    port: stage.port(0),
    request: get('/large'),
    length: 5_000_000,
    ...over,
  }),
  upload: (stage, count, over) => ({
    kind: 'upload',
    name: 'upload',
    count,
    port: stage.port(0),
    upload: 300_000,
    request: 'POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n',
    body: 'got 300000',
    ...over,
  }),
  websocket: (stage, count, over) => ({
    kind: 'websocket',
    name: 'websocket',
    count,
    port: stage.port(0),
    request: get('/ws', 'Upgrade: echo\r\nConnection: Upgrade\r\n'),
    ...over,
  }),
};

/** Asks for much on the usual servers, once the fault is over: all of it must be answered. */
export async function recovered(stage, expect) {
  const load = stage.load(clients.keepAlive(stage, 4), clients.close(stage, 4), clients.proxied(stage, 4));
  await load.answered(stage.short ? 500 : 20_000);
  const { answered, failed, why } = await load.stop();
  expect(failed === 0, `${failed} requests failed afterwards: ${JSON.stringify(why)}`);
  return { answered, failed };
}

/** The usual servers: files, a proxied backend, uploads, a tunnel; the same over TLS on the second port. */
export const usual = `
  upstream origin { server %%ORIGIN%%; keepalive 32; }
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  server {
    listen 127.0.0.1:%%PORT_0%%;
    listen 127.0.0.1:%%PORT_1%% ssl;
    ssl_certificate %%DIR%%/tls.crt;
    ssl_certificate_key %%DIR%%/tls.key;
    location /proxy/ { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }
    location /upload { client_max_body_size 20m; proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }
    location /ws { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade; }
  }`;

function get(path, headers = '') {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
}

export function title(pid) {
  return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
}

export function alive(pid) {
  // The first thread may have ended before the others: its children are still this process's then.
  return existsSync(`/proc/${pid}`) && (!/^State:\s+Z/m.test(read(`/proc/${pid}/status`)) || list(`/proc/${pid}/task`).length > 1);
}
