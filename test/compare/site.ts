import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { certs } from '../support/certs.js';
import type { Scene } from '../support/prefix.js';
import { type Server, startServer } from '../support/server.js';
import { FILES, withCases } from './case-files.js';
import { forgetSessions } from './client.js';
import { ServerClock } from './clock.js';
import {
  type CaseText,
  files,
  frame,
  LOG_KEYS,
  LOG_VARIABLES,
  PORTS,
  PROXIED,
  SESSION,
  SESSION_KEYS,
  SESSION_VARIABLES,
  streamAddress,
} from './configuration.js';
import { tlsFiles } from './features-tls.js';
import { RUN_HOST } from './run-host.js';

/** A line of the access log, by variable. */
export type LogLine = Readonly<Record<string, string>>;

/** A line of the error log about a connection. */
export interface ErrorLine {
  readonly level: string;
  readonly text: string;
}

/** How a server is run. */
export interface SiteOptions {
  readonly name: string;
  readonly nginx?: string;
  readonly engine?: 'libuv' | 'uring';
  readonly workers?: number;
  /** It gets its configuration anew while it is asked. */
  readonly reloads?: boolean;
  /** It is asked over HTTP/3, too. */
  readonly http3?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Its zones are files below the prefix, so that they can come to harm. */
  readonly zones?: boolean;
  /** What each of its processes loads first. */
  readonly preload?: string;
  /** Further alerts that are expected. */
  readonly alerts?: RegExp;
}

/** A connection of a run: its client's port ({@link portKey}), which others may have had before, and the run's host. */
export interface Wire {
  readonly port: string;
  readonly host: string;
}

/** What of the access log is about connections from one port, and who waits for how many lines of it. */
interface Connection {
  readonly lines: LogLine[];
  readonly waiting: Set<{ readonly wire: Wire; readonly count: number; readonly done: () => void }>;
}

/** What the configurations of cases lead to; nginx also has what njs and its library of TLS leave behind. */
const ALERTS =
  /open socket #\d+ left|"alias" cannot be used|rejection: (?:TypeError: subrequest can only be created for the primary|InternalError: subrequest creation failed)/;
const NGINX_ALERTS = new RegExp(
  `${ALERTS.source}|header already sent|request count is zero|ignoring stale global SSL error|exited on signal (?:6|11)|js unhandled rejection: InternalError: failed to send|ignore long locked inactive cache entry`,
);

/** Milliseconds in which a server must have read all cases of a batch. */
const LOADING = 300_000;
const BETWEEN_RELOADS = 1000;
/** Milliseconds between two looks at the logs. */
const LOOK = 2;

/** One server process that runs the cases of a batch. */
export class Site {
  readonly name: string;
  readonly server: Server;
  readonly reloads: boolean;
  /** How long somebody waits for it. */
  readonly clock = new ServerClock();
  /** All that it listens on. */
  readonly ports: ReadonlySet<string>;
  /** The port behind the PROXY protocol. */
  readonly #door: string;
  readonly #access: Tail;
  readonly #errors: Tail;
  readonly #connections = new Map<string, Connection>();
  readonly #errorLines = new Map<string, ErrorLine[]>();
  #crashes = 0;
  #looking: ReturnType<typeof setTimeout> | undefined;

  private constructor(name: string, server: Server, reloads: boolean) {
    this.name = name;
    this.reloads = reloads;
    this.server = server;
    this.ports = new Set(PORTS.map((number) => String(server.port(number))));
    this.#door = String(server.port(PROXIED));
    this.#access = new Tail(`${server.dir}/access.log`, (line) => this.#logged(line));
    this.#errors = new Tail(`${server.dir}/error.log`, (line) => this.#reported(line));
  }

  static async start(
    scene: Scene,
    { name, nginx, engine, workers = 1, reloads = false, http3 = false, zones = false, env, preload, alerts }: SiteOptions,
  ): Promise<Site> {
    const { ecdsa } = certs();
    const main = [
      `worker_processes ${workers}; worker_shutdown_timeout ${reloads ? 30 : 1}s;`,
      ...(engine === undefined ? [] : [`net_engine ${engine};`]),
      zones ? 'zone_directory %%DIR%%/zones;' : '',
    ].join('\n');
    // Its handshakes take a server a tenth of the time of those with RSA.
    const conf = frame(main, ecdsa.cert, ecdsa.key, {
      http3,
      scripts: nginx === undefined ? ['main', 'ours'] : hasScripts(nginx) ? ['main'] : [],
    });
    const server = await startServer(scene, {
      conf,
      files: { ...files, ...tlsFiles() },
      asRoot: true,
      compatible: true,
      logLevel: 'warn',
      nginx,
      ...(env === undefined ? {} : { env }),
      ...(preload === undefined ? {} : { preload }),
      expectAlerts: alerts ?? (nginx === undefined ? ALERTS : NGINX_ALERTS),
    });
    for (const folder of ['dav', 'store', 'store-temp']) {
      mkdirSync(`${server.dir}/${folder}`);
    }
    // What depends on a file's age is the same everywhere.
    for (const path of [...Object.keys(files), 'html/at/folder', 'html/at', 'html']) {
      utimesSync(`${server.dir}/${path}`, 1_420_070_400, 1_420_070_400);
    }
    return new Site(name, server, reloads);
  }

  /** Serves these configurations from now on. Rejects with the message about one that it does not take, in which its name is. */
  async load(texts: ReadonlyMap<string, CaseText>): Promise<void> {
    this.#access.clear();
    forgetSessions();
    for (const [path, of] of FILES) {
      await this.server.write(path, [...texts.values()].map((text) => text[of]).join(''));
    }
    try {
      await this.server.reload(undefined, LOADING);
    } catch (error) {
      throw new Error(withCases((error as Error).message, texts), { cause: error });
    }
    this.clock.processes = this.server.workers();
  }

  /** Reads the same configuration again and again, until it is told. */
  async reloadUntil(over: () => boolean): Promise<void> {
    while (!over()) {
      await this.server.reload(undefined, LOADING);
      this.clock.processes = this.server.workers();
      await new Promise((done) => setTimeout(done, BETWEEN_RELOADS));
    }
  }

  /** Waits until the access log has so many lines about a connection, or is forgotten. */
  logged(wire: Wire, count: number): Promise<void> {
    const { lines, waiting } = this.#connection(wire.port);
    return linesOf(lines, wire).length >= count
      ? Promise.resolve()
      : new Promise((done) => {
          waiting.add({ wire, count, done });
          this.#look();
        });
  }

  /** ... but for so many milliseconds at most. */
  async loggedWithin(wire: Wire, count: number, patience: number): Promise<void> {
    if (linesOf(this.#connection(wire.port).lines, wire).length < count) {
      await new Promise<void>((done) => {
        const inTime = this.clock.after(patience, done);
        void this.logged(wire, count).then(() => {
          inTime();
          done();
        });
      });
    }
  }

  /**
   * Gives the lines of the access log about a connection, once there are so many or so many milliseconds have passed; and forgets them.
   * `settle`: for so long it waits for more.
   */
  async logOf(wire: Wire, count: number, patience: number, settle = 0): Promise<LogLine[]> {
    const connection = this.#connection(wire.port);
    await this.loggedWithin(wire, count, patience);
    if (settle > 0) {
      await new Promise<void>((done) => this.clock.after(settle, done));
      this.#access.read();
    }
    this.#forget(wire.port, connection);
    return linesOf(connection.lines, wire);
  }

  /** What the error log says of the connections of lines of the access log: with nginx, each request of HTTP/3 has its own. */
  errorsOf(lines: readonly LogLine[]): ErrorLine[] {
    this.#errors.read();
    const connections = new Set(lines.map(connectionOf));
    return [...connections].flatMap((connection) => this.#errorLines.get(connection) ?? []);
  }

  /** How many workers have crashed so far. */
  get crashes(): number {
    this.#errors.read();
    return this.#crashes;
  }

  /** Forgets what the logs said. */
  forget(): void {
    this.#access.read();
    this.#errors.read();
    for (const [port, connection] of this.#connections) {
      this.#forget(port, connection);
    }
    this.#errorLines.clear();
  }

  /** Seconds of processor time that the server's processes took. */
  seconds(): number {
    const { pid } = this.server;
    return (secondsOf(pid, 4) ?? 0) + this.server.workers().reduce((sum, worker) => sum + (secondsOf(worker, 2) ?? 0), 0);
  }

  #connection(port: string): Connection {
    let connection = this.#connections.get(port);
    if (connection === undefined) {
      connection = { lines: [], waiting: new Set() };
      this.#connections.set(port, connection);
    }
    return connection;
  }

  #forget(port: string, { waiting }: Connection): void {
    this.#connections.delete(port);
    for (const { done } of waiting) {
      done();
    }
    waiting.clear();
  }

  /** Looks at the access log until nobody waits for a line of it. */
  #look(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined;
      this.#access.read();
      if ([...this.#connections.values()].some(({ waiting }) => waiting.size > 0)) {
        this.#look();
      }
    }, LOOK);
  }

  #logged(line: string): void {
    const values = line.split('\t');
    const names = values[0] === SESSION ? SESSION_NAMES : LOG_NAMES;
    const read = Object.fromEntries(names.map((name, i) => [name, values[i] ?? 'missing']));
    // Somebody else's connection may bring the client's requests.
    const port = read['server_port'] === this.#door ? read['proxy_protocol_port'] : read['realip_remote_port'];
    const { lines, waiting } = this.#connection(portKey(Number(port), read['http3'] === 'h3' || read['protocol'] === 'UDP'));
    lines.push(read);
    for (const waiter of waiting) {
      if (linesOf(lines, waiter.wire).length >= waiter.count) {
        waiting.delete(waiter);
        waiter.done();
      }
    }
  }

  #reported(line: string): void {
    const found = /^\S+ \S+ \[(\w+)\] (\d+)#\d+: \*(\d+) (.*)$/.exec(line);
    if (found !== null) {
      const [, level, pid, connection, text] = found as unknown as [string, string, string, string, string];
      const key = `${pid}*${connection}`;
      this.#errorLines.set(key, [...(this.#errorLines.get(key) ?? []), { level, text }]);
    } else if (/: worker process \d+ exited on signal (?:6|11)\b/.test(line)) {
      this.#crashes++;
    }
  }

  /** Writes a file under the prefix. */
  write(path: string, text: string): void {
    writeFileSync(`${this.server.dir}/${path}`, text);
  }
}

/** Whether nginx has njs. */
const hasScripts = (nginx: string): boolean => /njs/.test(spawnSync(nginx, ['-V'], { encoding: 'utf8' }).stderr);

/**
 * The lines of a run among those of connections from its port: another run's have its host, or are of another connection than those with
 * the host of this one. With nginx, each request of HTTP/3 is a connection.
 */
function linesOf(lines: readonly LogLine[], { host }: Wire): LogLine[] {
  const own = lines.find((line) => line['host'] === host && line['http3'] !== 'h3');
  return lines.filter((line) => {
    if (line[SESSION] !== undefined) {
      return line['server_addr'] === streamAddress(host.split('.')[1]!);
    }
    return line['host'] === host || (!RUN.test(line['host']!) && (own === undefined || connectionOf(line) === connectionOf(own)));
  });
}

/** Which connection of a site a line is about. */
const connectionOf = ({ pid, connection }: LogLine): string => `${pid}*${connection}`;

/** The host name of a run. */
const RUN = new RegExp(`^${RUN_HOST}$`);

/** A client's port: those of TCP and of UDP have the same numbers. */
export const portKey = (port: number, udp: boolean): string => `${udp ? 'udp' : 'tcp'} ${port}`;

const SESSION_NAMES = [SESSION, ...SESSION_KEYS, ...SESSION_VARIABLES];
const LOG_NAMES = [...LOG_KEYS, ...LOG_VARIABLES];

/** The clock's ticks in a second, as /proc counts processor time. */
const TICKS = 100;

/** Seconds of processor time of a process: the first so many of its own in user and system mode, and those of its children that ended. */
function secondsOf(pid: number, fields: 2 | 4): number | undefined {
  try {
    const values = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /, '')
      .split(' ');
    return values.slice(11, 11 + fields).reduce((sum, value) => sum + Number(value), 0) / TICKS;
  } catch {
    return undefined;
  }
}

/** Reads what is appended to a file, a line at a time. */
class Tail {
  readonly #path: string;
  readonly #take: (line: string) => void;
  #file: number | undefined;
  #at = 0;
  #rest = '';

  constructor(path: string, take: (line: string) => void) {
    this.#path = path;
    this.#take = take;
  }

  /** Makes the file an empty one, so that it does not grow for hours. */
  clear(): void {
    this.read();
    if (this.#file !== undefined) {
      truncateSync(this.#path);
      this.#at = 0;
      this.#rest = '';
    }
  }

  read(): void {
    if (this.#file === undefined) {
      if (!existsSync(this.#path)) {
        return;
      }
      this.#file = openSync(this.#path, 'r');
      const file = this.#file;
      process.once('exit', () => closeSync(file));
    }
    const size = fstatSync(this.#file).size;
    if (size <= this.#at) {
      return;
    }
    const bytes = Buffer.alloc(size - this.#at);
    const count = readSync(this.#file, bytes, 0, bytes.length, this.#at);
    this.#at += count;
    const lines = (this.#rest + bytes.toString('latin1', 0, count)).split('\n');
    this.#rest = lines.pop()!;
    lines.forEach(this.#take);
  }
}
