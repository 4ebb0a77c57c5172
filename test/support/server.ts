import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { againstNginx, serverCommand } from './binary.js';
import { poisonedFiles } from './poison.js';
import { type Files, makePrefix, type Prefix, type Scene } from './prefix.js';
import { childrenOf, isAlive, titleOf } from './processes.js';
import { waitFor } from './wait.js';

export interface ServerOptions {
  /** The whole configuration, with %%DIR%% and %%PORT_n%%; see `httpConf` for the usual frame. */
  readonly conf: string;
  /** Files under the prefix, written before the start. */
  readonly files?: Files;
  /** A command that runs the server, which keeps its process. */
  readonly within?: readonly string[];
  /** An nginx that runs in the place of the server under test, beside which it is compared. */
  readonly nginx?: string | undefined;
  /** The address of a module that each of the server's processes loads before its own. */
  readonly preload?: string;
  /** Further arguments. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Lets workers keep root's rights when root runs the tests; otherwise they become nobody. */
  readonly asRoot?: boolean;
  /** Answers as nginx mainline does where the requirements differ from it (`nginx_compatibility on`). */
  readonly compatible?: boolean;
  /** Level of the error log under the prefix; `info` unless told. */
  readonly logLevel?: 'debug' | 'info' | 'notice' | 'warn' | 'error' | 'crit';
  /** Alerts that the test brings about on purpose; any other alert or crash in the error log fails the test. */
  readonly expectAlerts?: RegExp;
}

/** What `net_engine` the tests are run with; unless told, that of a server as it comes. */
const netEngine = process.env.SLUICE_TEST_NET_ENGINE;

/** A running server. Everything about it ends with the test. */
export interface Server {
  readonly dir: string;
  /** The master's process id, as the pid file has it at the moment. */
  readonly pid: number;
  port(n: number): number;
  /** The error log so far. */
  log(): string;
  /** A log or another file under the prefix; empty when it does not exist. */
  read(path: string): string;
  /** The access log that `httpConf` asks for. */
  accessLog(): string;
  /** What the server wrote to standard error and standard output. */
  stderr(): string;
  /** Process ids of the master's children. */
  workers(): number[];
  /** Sends a signal to the master. */
  signal(name: 'HUP' | 'QUIT' | 'TERM' | 'INT' | 'USR1' | 'USR2' | 'WINCH' | 'KILL'): void;
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Replaces the configuration without telling the server. */
  configure(conf: string): Promise<void>;
  /**
   * Replaces the configuration (if one is given), sends HUP and waits until every old worker stopped accepting. Rejects with the
   * `[emerg]` line. `timeout`: milliseconds, for configurations that are long.
   */
  reload(conf?: string, timeout?: number): Promise<void>;
  /** Waits for a line of the error log. */
  logged(pattern: RegExp | string): Promise<string>;
  /** Waits for a line of the access log: it is written after the answer, so a client may be faster. */
  accessLogged(pattern: RegExp | string): Promise<string>;
  /** Starts the server again after its end, on the same ports. */
  start(): Promise<void>;
  /** Ends the server (TERM unless told) and waits for it. */
  stop(signal?: 'TERM' | 'QUIT' | 'INT'): Promise<void>;
}

/** The usual frame: an http block with the access log in %%DIR%%/access.log around `http`. */
export function httpConf(http: string, main = ''): string {
  return `${main}\nevents {}\nhttp {\naccess_log %%DIR%%/access.log;\nclient_body_temp_path %%DIR%%/client_body_temp;\n${http}\n}\n`;
}

/** The same frame for `stream`; its access log has the status of each session, and what `format` adds. */
export function streamConf(stream: string, format = ''): string {
  return `events {}\nstream {\nlog_format test '$status${format}';\naccess_log %%DIR%%/access.log test;\n${stream}\n}\n`;
}

/** The frame of most tests: one server on %%PORT_0%% with the root %%DIR%%/html, where `server` is the rest of its block. */
export function serverConf(server: string, http = ''): string {
  return httpConf(`${http}\nserver {\nlisten 127.0.0.1:%%PORT_0%%;\nserver_name localhost;\nroot %%DIR%%/html;\n${server}\n}`);
}

/**
 * Starts the built server in the foreground with a configuration on free loopback ports, and returns once its pid file
 * says that every listener accepts. Rejects with its messages when it does not start.
 */
export async function startServer(t: Scene, options: ServerOptions): Promise<Server> {
  const prefix = await makePrefix(t, options.files);
  const server = new RunningServer(prefix, options);
  t.teardown(() => server.teardown());
  await server.start();
  return server;
}

// Process groups of servers that run now; none of them outlives the test process.
const groups = new Set<number>();
process.once('exit', () => groups.forEach(killGroup));
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => process.exit(1));
}

function killGroup(group: number | undefined): void {
  if (!group || !groups.delete(group)) {
    return;
  }
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // Nobody is left in the group.
  }
}

class RunningServer implements Server {
  readonly #prefix: Prefix;
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  #output = '';

  constructor(prefix: Prefix, options: ServerOptions) {
    this.#prefix = prefix;
    this.#options = options;
  }

  get #nginx(): string | undefined {
    return this.#options.nginx;
  }

  get dir(): string {
    return this.#prefix.dir;
  }

  get pid(): number {
    const pid = this.#pidInFile();
    if (pid === 0) {
      throw new Error('no pid file');
    }
    return pid;
  }

  async start(): Promise<void> {
    await this.configure(this.#options.conf);
    const [command, ...first] = [
      ...(this.#options.within ?? []),
      ...(this.#nginx ? [this.#nginx] : serverCommand(this.#options.preload)),
    ] as [string, ...string[]];
    const args = [...first, '-p', `${this.dir}/`, '-c', 'sluice.conf', '-e', 'error.log', '-g', this.#globals()];
    // A process group of its own, so that teardown reaches workers whose master is gone.
    const child = spawn(command, [...args, ...(this.#options.args ?? [])], {
      // Each process of Node would read all of these certificates.
      env: { ...process.env, NODE_EXTRA_CA_CERTS: undefined, ...this.#options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    if (child.pid !== undefined) {
      groups.add(child.pid);
    }
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('latin1').on('data', (text: string) => (this.#output += text));
    }
    let failure: Error | undefined;
    child.once('error', (error) => (failure = error));
    await waitFor(
      () => {
        if (failure) {
          throw failure;
        }
        if (child.exitCode || child.signalCode) {
          throw new Error(`the server did not start\n${this.#output}${this.log()}`);
        }
        return this.#pidInFile();
      },
      { what: () => `the pid file\n${this.#output}${this.log()}` },
    );
    groups.add(this.pid);
  }

  /** Directives of the main context that the configuration leaves to the harness. */
  #globals(): string {
    const { conf, asRoot, compatible, logLevel } = this.#options;
    const foreign = againstNginx || this.#nginx !== undefined;
    const unless = (name: string, value: string) => (new RegExp(`^\\s*${name}\\s`, 'm').test(conf) ? '' : `${name} ${value}; `);
    return (
      unless('daemon', 'off') +
      unless('pid', `${this.dir}/server.pid`) +
      unless('worker_processes', '1') +
      `error_log ${this.dir}/error.log ${logLevel ?? 'info'}; ` +
      (asRoot && process.getuid?.() === 0 ? unless('user', 'root') : '') +
      (netEngine !== undefined && !foreign ? unless('net_engine', netEngine) : '') +
      (compatible && !foreign ? 'nginx_compatibility on; ' : '')
    );
  }

  #pidInFile(): number {
    const named = /^\s*pid\s+([^\s;]+)/m.exec(this.#options.conf)?.[1]?.replace('%%DIR%%', this.dir);
    return Number(this.#readFile(named ?? `${this.dir}/server.pid`)) || 0;
  }

  #readFile(path: string): string {
    return existsSync(path) ? readFileSync(path, 'latin1') : '';
  }

  port(n: number): number {
    return this.#prefix.port(n);
  }

  log(): string {
    return this.read('error.log');
  }

  read(path: string): string {
    return this.#readFile(`${this.dir}/${path}`);
  }

  accessLog(): string {
    return this.read('access.log');
  }

  stderr(): string {
    return this.#output;
  }

  workers(): number[] {
    return childrenOf(this.pid);
  }

  signal(name: string): void {
    process.kill(this.pid, `SIG${name}`);
  }

  write(path: string, content: string | Uint8Array): Promise<void> {
    return this.#prefix.write(path, content);
  }

  configure(conf: string): Promise<void> {
    return this.write('sluice.conf', conf);
  }

  async reload(conf?: string, timeout?: number): Promise<void> {
    if (conf !== undefined) {
      await this.configure(conf);
    }
    const old = this.workers();
    const log = `${this.dir}/error.log`;
    const logged = existsSync(log) ? statSync(log).size : 0;
    this.signal('HUP');
    await waitFor(
      () => {
        // The log of a server with thousands of reloads behind it is long.
        const news = readFrom(log, logged);
        const refusal = /^.*\[emerg\].*$/m.exec(news);
        if (refusal) {
          throw new Error(refusal[0]);
        }
        return old.every(
          (pid) => !isAlive(pid) || /shutting down/.test(titleOf(pid)) || new RegExp(`\\b${pid}#.*shutting down`).test(news),
        );
      },
      { what: () => `the reload\n${readFrom(log, logged)}`, ...(timeout === undefined ? {} : { timeout }) },
    );
  }

  logged(pattern: RegExp | string): Promise<string> {
    return this.#line(() => this.log(), pattern);
  }

  accessLogged(pattern: RegExp | string): Promise<string> {
    return this.#line(() => this.accessLog(), pattern);
  }

  #line(read: () => string, pattern: RegExp | string): Promise<string> {
    const matches = (line: string): boolean => (typeof pattern === 'string' ? line.includes(pattern) : pattern.test(line));
    return waitFor(() => read().split('\n').find(matches), { what: () => `${pattern} in the log\n${read()}` });
  }

  async stop(signal: 'TERM' | 'QUIT' | 'INT' = 'TERM'): Promise<void> {
    const pid = this.#pidInFile() || this.#child?.pid;
    if (pid === undefined || !isAlive(pid)) {
      return;
    }
    const workers = childrenOf(pid);
    process.kill(pid, `SIG${signal}`);
    await waitFor(() => ![pid, ...workers].some(isAlive), { what: () => `the end of the server\n${this.log()}` });
  }

  /** Stops the server and rejects when it crashed, stopped badly or reported what the test does not expect. */
  async teardown(): Promise<void> {
    const problems: string[] = [];
    await this.stop().catch((error) => problems.push(String(error)));
    killGroup(this.#child?.pid);
    killGroup(this.#pidInFile());
    if (this.#child?.exitCode) {
      problems.push(`the server ended with code ${this.#child.exitCode}\n${this.#output}`);
    }
    problems.push(...poisonedFiles(this.dir));
    const { expectAlerts } = this.#options;
    for (const line of `${this.log()}${this.#output}`.split('\n')) {
      const crash = /\[alert\]|uncaught|unhandled|^\s+at .+:\d+:\d+\)?$/i.test(line);
      if (crash && !expectAlerts?.test(line)) {
        problems.push(`the server reported: ${line}`);
      }
    }
    if (problems.length > 0) {
      throw new Error(problems.join('\n'));
    }
  }
}

/** What a file has behind so many bytes. */
function readFrom(path: string, from: number): string {
  if (!existsSync(path)) {
    return '';
  }
  const file = openSync(path, 'r');
  const bytes = Buffer.alloc(Math.max(fstatSync(file).size - from, 0));
  const count = readSync(file, bytes, 0, bytes.length, from);
  closeSync(file);
  return bytes.toString('latin1', 0, count);
}
