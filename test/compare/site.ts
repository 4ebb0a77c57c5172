import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { certs } from '../support/certs.js';
import type { Scene } from '../support/prefix.js';
import { type Server, startServer } from '../support/server.js';
import { files, frame, LOG_KEYS, LOG_VARIABLES } from './configuration.js';

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
}

/** What of the logs is about one connection. */
interface Connection {
  readonly lines: LogLine[];
  readonly wake: Set<() => void>;
}

/** One server process that runs the cases of a batch. */
export class Site {
  readonly name: string;
  readonly server: Server;
  readonly #access: Tail;
  readonly #errors: Tail;
  readonly #connections = new Map<string, Connection>();
  readonly #errorLines = new Map<string, ErrorLine[]>();
  #polling: ReturnType<typeof setTimeout> | undefined;
  #waiting = 0;

  private constructor(name: string, server: Server) {
    this.name = name;
    this.server = server;
    this.#access = new Tail(`${server.dir}/access.log`, (line) => this.#logged(line));
    this.#errors = new Tail(`${server.dir}/error.log`, (line) => this.#reported(line));
  }

  static async start(scene: Scene, { name, nginx, engine, workers = 1 }: SiteOptions): Promise<Site> {
    const { rsa } = certs();
    const main = [`worker_processes ${workers};`, ...(engine === undefined ? [] : [`net_engine ${engine};`])].join('\n');
    const conf = frame(main, rsa.cert, rsa.key);
    const server = await startServer(scene, {
      conf,
      files,
      asRoot: true,
      compatible: true,
      nginx,
      expectAlerts: /open socket #\d+ left|"alias" cannot be used/,
    });
    mkdirSync(`${server.dir}/cases`);
    for (const folder of ['dav', 'store', 'store-temp']) {
      mkdirSync(`${server.dir}/${folder}`);
    }
    // What depends on a file's age is the same everywhere.
    for (const path of [...Object.keys(files), 'html/at/folder', 'html/at', 'html']) {
      utimesSync(`${server.dir}/${path}`, 1_420_070_400, 1_420_070_400);
    }
    return new Site(name, server);
  }

  /** Serves these configurations from now on. Rejects with the message about one that it does not take. */
  async load(texts: ReadonlyMap<string, string>): Promise<void> {
    rmSync(`${this.server.dir}/cases`, { recursive: true });
    mkdirSync(`${this.server.dir}/cases`);
    for (const [name, text] of texts) {
      await this.server.write(`cases/${name}.conf`, text);
    }
    await this.server.reload();
  }

  /** Waits for so many lines of the access log about a connection, by its client's port; gives those that came in time. */
  async logOf(port: number, count: number, patience: number): Promise<LogLine[]> {
    const connection = this.#connection(String(port));
    const until = Date.now() + patience;
    this.#waiting++;
    while (connection.lines.length < count && Date.now() < until) {
      await new Promise<void>((done) => {
        connection.wake.add(done);
        this.#poll();
      });
    }
    this.#waiting--;
    this.#connections.delete(String(port));
    return connection.lines;
  }

  /** What the error log says of the connection of an access log's line. */
  errorsOf({ pid, connection }: LogLine): ErrorLine[] {
    this.#errors.read();
    return this.#errorLines.get(`${pid}*${connection}`) ?? [];
  }

  /** Forgets what the logs said. */
  forget(): void {
    this.#access.read();
    this.#errors.read();
    this.#connections.clear();
    this.#errorLines.clear();
  }

  #connection(port: string): Connection {
    let connection = this.#connections.get(port);
    if (connection === undefined) {
      connection = { lines: [], wake: new Set() };
      this.#connections.set(port, connection);
    }
    return connection;
  }

  #poll(): void {
    this.#polling ??= setTimeout(() => {
      this.#polling = undefined;
      this.#access.read();
      for (const { wake } of this.#connections.values()) {
        for (const done of wake) {
          done();
        }
        wake.clear();
      }
      if (this.#waiting > 0) {
        this.#poll();
      }
    }, 2);
  }

  #logged(line: string): void {
    const values = line.split('\t');
    const names = [...LOG_KEYS, ...LOG_VARIABLES];
    const read = Object.fromEntries(names.map((name, i) => [name, values[i] ?? 'missing']));
    this.#connection(read['remote_port']!).lines.push(read);
  }

  #reported(line: string): void {
    const found = /^\S+ \S+ \[(\w+)\] (\d+)#\d+: \*(\d+) (.*)$/.exec(line);
    if (found !== null) {
      const [, level, pid, connection, text] = found as unknown as [string, string, string, string, string];
      const key = `${pid}*${connection}`;
      this.#errorLines.set(key, [...(this.#errorLines.get(key) ?? []), { level, text }]);
    }
  }

  /** Writes a file under the prefix. */
  write(path: string, text: string): void {
    writeFileSync(`${this.server.dir}/${path}`, text);
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
