// A server of HTTP/3 in this process, and clients of it, with a transport in memory.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { loadFromSnapshot } from '../../src/shared/config/load.js';
import type { Logger } from '../../src/shared/log/error-log.js';
import { LogFiles } from '../../src/shared/log/log-files.js';
import { SqliteZoneStore } from '../../src/shared/zone/store.js';
import { loadConfiguration } from '../../src/tools/configuration.js';
import { buildRuntime } from '../../src/worker/build-http.js';
import { ConnectionCounters } from '../../src/worker/connections/counters.js';
import { IdleQueue } from '../../src/worker/connections/idle-queue.js';
import type { WorkerEnv } from '../../src/worker/env.js';
import type { ConnectionHost } from '../../src/worker/http/connection/connection-host.js';
import { Http3Connection } from '../../src/worker/http/http3/connection.js';
import { FRAME } from '../../src/worker/http/http3-frames/protocol.js';
import type { HttpRuntime } from '../../src/worker/http/request/http-runtime.js';
import { language } from '../../src/worker/language.js';
import { modules } from '../../src/worker/modules/index.js';
import type { ClientTask } from '../../src/worker/task/client-task.js';
import { frame, framesOf, headers } from './http3-frames.js';
import { MemoryQuic, type MemoryStream } from './memory-quic.js';

export { frame, framesOf, headers };

/** What came of a request. */
export interface SeenResponse {
  readonly status: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly trailers: readonly string[];
  /** The statuses of 1xx heads. */
  readonly interim: readonly string[];
}

/** The head of a GET request. */
export const get = (path: string, ...lines: readonly string[]): Buffer =>
  headers(':method: GET', ':scheme: https', `:path: ${path}`, ':authority: localhost', ...lines);

/** The head of a request with a body. */
export const post = (path: string, ...lines: readonly string[]): Buffer =>
  headers(':method: POST', ':scheme: https', `:path: ${path}`, ':authority: localhost', ...lines);

/** The response that the server has written to a stream so far. */
export function responseOf(stream: MemoryStream): SeenResponse {
  const frames = framesOf(stream.bytes);
  const heads = frames.filter(({ type }) => type === FRAME.HEADERS);
  const interim = heads.filter(({ fields }) => /^:status: 1/.test(fields[0] ?? ''));
  const [head, trailers] = heads.slice(interim.length);
  return {
    status: head?.fields[0]?.slice(9) ?? '',
    headers: Object.fromEntries((head?.fields ?? []).map((line) => line.split(/(?<=.): /) as [string, string])),
    body: Buffer.concat(frames.filter(({ type }) => type === FRAME.DATA).map(({ payload }) => payload)).toString('latin1'),
    trailers: trailers?.fields ?? [],
    interim: interim.map(({ fields }) => fields[0]!.slice(9)),
  };
}

/** Waits until something is so. */
export async function until(what: () => boolean): Promise<void> {
  for (let i = 0; !what(); i++) {
    if (i > 20_000) {
      throw new Error('it does not come to that');
    }
    await new Promise((resolve) => (i < 200 ? setImmediate(resolve) : setTimeout(resolve, 1)));
  }
}

/** A server in this process. `DIR` in the text is a folder of its own, which has `html/`. */
export class Http3Scene {
  readonly http: HttpRuntime;
  readonly dir: string;
  readonly counters = new ConnectionCounters();
  readonly lines: string[] = [];
  readonly host: { draining: boolean } & ConnectionHost;
  #serial = 0;
  readonly #closers: (() => void)[] = [];

  static of(t: Test, http: string, files: Readonly<Record<string, string>> = {}): Promise<Http3Scene> {
    const all = Object.fromEntries(Object.entries(files).map(([name, text]) => [`html/${name}`, text]));
    return Http3Scene.whole(t, `events {}\nhttp {\naccess_log DIR/access.log;\nerror_log DIR/error.log info;\n${http}\n}\n`, all);
  }

  /** The same with a whole configuration. */
  static async whole(t: Test, conf: string, files: Readonly<Record<string, string>>): Promise<Http3Scene> {
    const dir = mkdtempSync(join(tmpdir(), 'http3-'));
    mkdirSync(`${dir}/html`);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(`${dir}/${name}`), { recursive: true });
      writeFileSync(`${dir}/${name}`, text);
    }
    writeFileSync(`${dir}/x.conf`, conf.replaceAll(/%%DIR%%|\bDIR\b/g, dir).replaceAll('%%PORT_0%%', '8443'));
    const prefix = `${dir}/`;
    const { snapshot } = await loadConfiguration({
      prefix,
      entry: `${dir}/x.conf`,
      confPrefix: prefix,
      globals: '',
      pid: 'x.pid',
      errorLog: '',
      signalling: false,
    });
    const scene = new Http3Scene(dir, snapshot);
    t.teardown(() => {
      for (const close of scene.#closers.splice(0)) {
        close();
      }
      rmSync(dir, { recursive: true });
    });
    return scene;
  }

  private constructor(dir: string, snapshot: Parameters<typeof loadFromSnapshot<ClientTask>>[1]) {
    this.dir = dir;
    const loaded = loadFromSnapshot<ClientTask>(language, snapshot);
    const log: Logger = { level: 7, log: (_level, line) => void this.lines.push(line) };
    const zones = new SqliteZoneStore({ directory: undefined, files: {} }, loaded.zones.all(), process.pid, log);
    const logFiles = new LogFiles();
    this.#closers.push(
      () => zones.close(),
      () => logFiles.closeAll(),
    );
    const env: WorkerEnv = {
      slot: 0,
      workers: 1,
      zones,
      log,
      logFiles,
      named: loaded.sources.named,
      prefix: snapshot.prefix,
      confPrefix: snapshot.confPrefix,
      confFile: snapshot.entry,
      errorLogPath: '',
      devReport: undefined,
      compatible: false,
      onDrain: (callback) => void this.#closers.push(callback),
      onClose: (callback) => void this.#closers.push(callback),
    };
    this.http = buildRuntime(loaded, modules, env)!;
    this.host = {
      env,
      counters: this.counters,
      idle: new IdleQueue(),
      draining: false,
      takeParser: () => {
        throw new Error('no parser of HTTP/1 is needed');
      },
      giveParser() {},
      countStatus() {},
      uncount() {},
      connectionClosed() {},
    };
  }

  /** A client connects; `allowed`: how many streams the server may open, without an end unless given. */
  connect(protocol = 'h3', allowed?: number): MemoryQuic {
    const quic = new MemoryQuic(protocol, allowed);
    const address = this.http.listeners[0]!.addresses[0]!;
    const connection = new Http3Connection(this.host, quic, address, ++this.#serial, undefined, {
      tls: undefined,
      proxyProtocol: undefined,
    });
    quic.handler = connection;
    connection.start();
    this.#closers.unshift(() => connection.kill());
    return quic;
  }

  /** ... and says what it takes, as nearly all do. */
  client(): MemoryQuic {
    const quic = this.connect();
    quic.open(2).send(Buffer.concat([Buffer.from([0]), frame(FRAME.SETTINGS)]));
    return quic;
  }

  /** The lines of the error log. */
  get errorLog(): string {
    this.host.env.logFiles.flushErrors();
    return readFileSync(`${this.dir}/error.log`, 'latin1');
  }

  /** The lines of the access log. */
  get accessLog(): string {
    this.host.env.logFiles.flushTick();
    return readFileSync(`${this.dir}/access.log`, 'latin1');
  }
}
