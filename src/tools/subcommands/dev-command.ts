import { execFile } from 'node:child_process';
import { type FSWatcher, mkdtempSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { programAgain } from '../../master/processes/program-again.js';
import { writeFresh } from '../../shared/files/state-file.js';
import { setTimer } from '../../shared/time/timer.js';
import type { ServerStart, SubcommandValues } from './command.js';
import { configuredFiles } from './configured-files.js';
import { givenGlobals, givenOptions } from './server-options.js';

/** Milliseconds without another change before the files are looked at: editors write several times. */
const SETTLED = 100;
const CLEAR = process.stderr.isTTY ? '\x1b[2J\x1b[H' : '';

/**
 * `sluice dev`: serves a configuration in the foreground, and takes over each change of its files and of the modules of JavaScript that it
 * imports. What is wrong is said in the terminal, and in the browser for as long as it is wrong.
 */
export async function runDevCommand(values: SubcommandValues): Promise<ServerStart> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-dev-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const report = `${folder}/report.txt`;
  const own = givenOptions(values);
  const globals = givenGlobals(values);
  const files = new WatchedFiles(() => configuredFiles(values));
  const test = (): Promise<string> => tested([...own, '-q', '-t', '-g', `daemon off;${globals}`]);
  for (let problem = await test(); problem !== ''; problem = await test()) {
    process.stderr.write(`${CLEAR}${problem}sluice: waiting for a change\n`, 'latin1');
    await files.changed();
  }
  return {
    args: [...own, '-g', `daemon off; dev_report ${report};${globals}`],
    ready: (urls) => {
      process.stdout.write(`sluice: serving on ${urls.join(', ') || 'no address'}, and again after each change (Ctrl-C stops it)\n`);
      void follow(files, test, report);
    },
  };
}

/** Reloads after each change of what the server was started with, for as long as the process lives. */
async function follow(files: WatchedFiles, test: () => Promise<string>, report: string): Promise<never> {
  for (;;) {
    const changed = await files.changed();
    const problem = await test();
    if (problem === '') {
      rmSync(report, { force: true });
      process.stdout.write(`sluice: ${changed} has changed, reloading\n`);
      process.kill(process.pid, 'SIGHUP');
    } else {
      writeFresh(report, Buffer.from(problem, 'latin1'));
      process.stderr.write(`${CLEAR}${problem}sluice: the configuration before it serves on\n`, 'latin1');
    }
  }
}

/** What a test of the configuration says in a process of its own, which runs the modules; empty when it is in order. */
function tested(args: readonly string[]): Promise<string> {
  return new Promise((done) => {
    execFile(process.execPath, [...programAgain(), ...args], { encoding: 'latin1' }, (error, _out, text) => {
      done(error === null ? '' : text || `${error.message}\n`);
    });
  });
}

/** Files that are looked after by their folders, since editors put new files in the place of old ones. */
class WatchedFiles {
  readonly #list: () => string[];
  #watchers: FSWatcher[] = [];
  #files = new Set<string>();
  #changed: string | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #done: ((file: string) => void) | undefined = undefined;

  constructor(list: () => string[]) {
    this.#list = list;
    this.#watch();
  }

  /** Resolves to the name of a file once something has changed since this was asked last. */
  changed(): Promise<string> {
    return new Promise((done) => {
      this.#done = done;
      this.#tell();
    });
  }

  #watch(): void {
    for (const watcher of this.#watchers) {
      watcher.close();
    }
    this.#files = new Set(this.#list());
    const configurations = new Set(
      [...this.#files].filter((file) => !/\.(?:[cm]?[jt]s|json|node)$/.test(file)).map((file) => dirname(file)),
    );
    this.#watchers = [...new Set([...this.#files].map((file) => dirname(file)))].flatMap((folder) => {
      try {
        const watcher = watch(folder, { persistent: true }, (_event, name) => {
          // A new file may be one that a pattern includes.
          if (name === null || this.#files.has(join(folder, name)) || (configurations.has(folder) && name.endsWith('.conf'))) {
            this.#note(name === null ? folder : join(folder, name));
          }
        });
        watcher.on('error', () => {});
        return [watcher];
      } catch {
        return [];
      }
    });
  }

  #note(file: string): void {
    this.#changed = basename(file);
    clearTimeout(this.#timer);
    this.#timer = setTimer(() => {
      this.#timer = undefined;
      this.#watch();
      this.#tell();
    }, SETTLED) as NodeJS.Timeout;
  }

  #tell(): void {
    if (this.#changed !== undefined && this.#timer === undefined && this.#done !== undefined) {
      const [file, done] = [this.#changed, this.#done];
      this.#changed = undefined;
      this.#done = undefined;
      done(file);
    }
  }
}
