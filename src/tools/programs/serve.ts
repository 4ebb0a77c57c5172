import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { replaceStateFile } from '../../shared/files/state-file.js';
import { setTimer } from '../../shared/time/timer.js';
import { ServeError } from '../subcommands/serve-text.js';
import { checkOptions, type ServerOptions } from './options.js';
import { configurationText, makeProgramPlace, type ProgramPlace } from './place.js';
import { program, runProgram } from './program.js';

/** So often another port is chosen when somebody else has taken the one that was free. */
const TRIES = 5;
/** Milliseconds that requests get to finish when the server is closed; then they are cut off. */
const PATIENCE = 10_000;
/** So much of what the server says is kept for a message. */
const LONGEST_COMPLAINT = 4000;

/** A server that runs in a process of its own, whose workers are its children. It ends with this process. */
export interface SluiceServer {
  /** The first address that answers, such as `http://127.0.0.1:8080/`. */
  readonly url: string;
  readonly urls: readonly string[];
  /** The process id of the master. */
  readonly pid: number;
  /** Resolves once the server has ended, however that came. */
  readonly closed: Promise<void>;
  /**
   * Takes over the configuration as it is now, or as these options have it, on the same port, without losing a request.
   * Rejects with {@link ServeError} when it is refused; the one of before serves on.
   */
  reload(options?: Omit<ServerOptions, 'port' | 'output' | 'signal'>): Promise<void>;
  /** Takes no more connections, finishes the requests under way, and resolves once the server has ended. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a server; resolves once it answers. Rejects with {@link ServeError} for options that make no sense, and where the server does not
 * start.
 */
export async function serve(options: ServerOptions): Promise<SluiceServer> {
  checkOptions('serve', options, true);
  options.signal?.throwIfAborted();
  const own = options.config === undefined && options.configFile === undefined;
  for (let tries = 1; ; tries++) {
    const any = options.port === 0 || (own && options.port === undefined);
    const port = any ? await freePort(options.host) : options.port;
    const place = makeProgramPlace(options, port ?? 0);
    try {
      return await start(options, place, own ? undefined : port);
    } catch (error) {
      place.remove();
      if (!(any && tries < TRIES && error instanceof ServeError && /\(98: Address already in use\)/.test(error.message))) {
        throw error;
      }
    }
  }
}

async function start(options: ServerOptions, place: ProgramPlace, devPort: number | undefined): Promise<SluiceServer> {
  const args = ['run', ...place.args, '--attached', ...(devPort === undefined ? [] : ['--port', String(devPort)])];
  const child = spawn(process.execPath, [program, ...args, '-g', place.globals], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => {});
  const closed = new Promise<void>((done) => {
    child.once('close', () => {
      place.remove();
      done();
    });
    child.once('error', () => done());
  });
  const urls = await answering(child, options.output !== 'ignore');
  const running = new RunningServer(child, closed, place, options, urls);
  options.signal?.addEventListener('abort', () => void running.close(), { once: true });
  return running;
}

/** Resolves to the addresses once the server says that it answers. */
function answering(child: ChildProcess, inherit: boolean): Promise<readonly string[]> {
  return new Promise((done, fail) => {
    let said = '';
    let complaint = '';
    let ready = false;
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      if (ready) {
        if (inherit) {
          process.stdout.write(text);
        }
        return;
      }
      said += text;
      const found = /^sluice: serving on (.*?) \(Ctrl-C stops it\)\n/m.exec(said);
      if (found !== null) {
        ready = true;
        done(found[1]!.split(', '));
      }
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (!ready) {
        complaint = (complaint + text).slice(-LONGEST_COMPLAINT);
      }
      if (inherit) {
        process.stderr.write(text);
      }
    });
    child.once('error', (error) => fail(new ServeError(`sluice cannot be started: ${error.message}`)));
    child.once('close', () => fail(new ServeError(`sluice does not start: ${plain(complaint)}`)));
  });
}

/** Lines of the error log without their time and process. */
const plain = (text: string): string =>
  text
    .replace(/^\d{4}\/\d\d\/\d\d [\d:]+ (\[\w+\]) [\d#]+: /gm, '$1 ')
    .trim()
    .slice(-LONGEST_COMPLAINT);

class RunningServer implements SluiceServer {
  readonly url: string;
  readonly urls: readonly string[];
  readonly pid: number;
  readonly closed: Promise<void>;
  readonly #child: ChildProcess;
  readonly #place: ProgramPlace;
  #options: ServerOptions;

  constructor(child: ChildProcess, closed: Promise<void>, place: ProgramPlace, options: ServerOptions, urls: readonly string[]) {
    this.#child = child;
    this.#place = place;
    this.#options = options;
    this.url = urls[0]!;
    this.urls = urls;
    this.pid = child.pid!;
    this.closed = closed;
  }

  async reload(change?: Omit<ServerOptions, 'port' | 'output' | 'signal'>): Promise<void> {
    if (change !== undefined) {
      this.#rewrite(change);
    }
    const { args, globals } = this.#place;
    const { code, errors } = await runProgram([...args, '-e', 'stderr', '-g', globals, '-s', 'reload', '--wait']);
    if (code !== 0) {
      throw new ServeError(`the reload was refused: ${plain(errors)}`);
    }
  }

  #rewrite(change: ServerOptions): void {
    const { file } = this.#place;
    checkOptions('reload', change, true);
    if (file === undefined || change.configFile !== undefined) {
      throw new ServeError('a server of a "configFile" is reloaded without options, from that file');
    }
    const { host, log } = this.#options;
    const kept = change.config === undefined ? { ...(host === undefined ? {} : { host }), ...(log === undefined ? {} : { log }) } : {};
    const text = configurationText({ ...kept, ...change }, Number(new URL(this.url).port || 80));
    replaceStateFile(file, Buffer.from(text, 'latin1'), { mode: 0o644 });
    this.#options = { ...kept, ...change };
  }

  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGQUIT');
      const timer = setTimer(() => this.#child.kill('SIGTERM'), PATIENCE);
      await this.closed;
      clearTimeout(timer);
    }
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A port that nobody uses now. */
function freePort(host = '127.0.0.1'): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once('error', (error) => fail(new ServeError(`"${host}" cannot be listened on: ${error.message}`)));
    probe.listen({ port: 0, host }, () => {
      const { port } = probe.address() as { readonly port: number };
      probe.close(() => done(port));
    });
  });
}
