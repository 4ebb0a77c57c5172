import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ConfigErrors } from '../../src/shared/config/configuration.js';
import { loadConfiguration } from '../../src/tools/configuration.js';
import { certs } from '../support/certs.js';
import { makePrefix, type Scene } from '../support/prefix.js';
import { configRules, type Verdicts } from './config-rules.js';
import { atHome, mutated, originals, shorter, statementsOf } from './configurations.js';
import { Random } from './random.js';

/** Which configurations are read, and beside what. */
export interface ConfigRun {
  readonly path: string;
  readonly nginx: string;
  readonly seed: number;
  readonly count: number;
  /** Milliseconds since the epoch at which it ends in any case. */
  readonly until: number;
  /** Kinds of differences that are made small. */
  readonly shrink: number;
  readonly print: (line: string) => void;
}

interface Finding {
  readonly name: string;
  readonly text: string;
  readonly verdicts: Verdicts;
  count: number;
}

/** nginx processes at a time. */
const AT_ONCE = 3;
/** Readings that make a configuration smaller. */
const TRIES = 400;

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = (): string => readFileSync(`${root}docs/compatibility.md`, 'utf8');

/** Lets sluice and nginx read mutated configurations; prints where they differ. Returns how many differ without a name. */
export async function compareConfigs(scene: Scene, run: ConfigRun): Promise<number> {
  const reader = await Reader.make(scene, run.nginx);
  const all = originals(run.path);
  const statements = statementsOf(all);
  const told = page();
  const byRule = new Map<string, number>();
  const findings = new Map<string, Finding>();
  const started = Date.now();
  let next = 0;
  let read = 0;
  let accepted = 0;
  let unnamed = 0;
  const lane = async (number: number): Promise<void> => {
    while (next < run.count && Date.now() < run.until) {
      const random = new Random(run.seed, next);
      // Each is read as it is, too.
      const own = next % 4 === 0 ? all[next / 4] : undefined;
      const original = own ?? random.oneOf(all);
      const text = own === undefined ? mutated(original.text, random, statements) : original.text;
      next++;
      const verdicts = await reader.read(text, number);
      read++;
      accepted += verdicts.theirs === '' ? 1 : 0;
      if (verdicts.ours === verdicts.theirs) {
        continue;
      }
      const rule = configRules.find(({ when }) => when(verdicts, told));
      if (rule !== undefined) {
        byRule.set(rule.name, (byRule.get(rule.name) ?? 0) + 1);
        continue;
      }
      unnamed++;
      const kind = kindOf(verdicts);
      const known = findings.get(kind);
      if (known === undefined) {
        findings.set(kind, { name: original.name, text, verdicts, count: 1 });
      } else {
        known.count++;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => lane(i)));
  const seconds = (Date.now() - started) / 1000;
  for (const [i, [kind, finding]] of [...findings].entries()) {
    const text = i < run.shrink ? await smallest(reader, finding.text, kind) : finding.text;
    const { ours, theirs } = await reader.read(text, 0);
    run.print(`\n# ${finding.count} times, such as in ${finding.name}\n  sluice: ${ours || 'accepted'}\n  nginx: ${theirs || 'accepted'}`);
    if (i < run.shrink) {
      run.print(text.replace(/^/gm, '    '));
    }
  }
  run.print(`\n${read} configurations in ${seconds.toFixed(0)} s, of which nginx accepts ${accepted}`);
  for (const [name, count] of byRule) {
    run.print(`  ${count} times: ${name}`);
  }
  run.print(`${unnamed} with a difference that has no name, of ${findings.size} kinds`);
  return unnamed;
}

/** What is different, without the particulars. */
const kindOf = ({ ours, theirs }: Verdicts): string => {
  const general = (text: string): string =>
    text
      .replace(/ in \S+:\d+$/, '')
      .replace(/(?<!directive )"[^"]*"/g, '"..."')
      .replace(/\d+/g, 'N');
  return `${general(ours)} | ${general(theirs)}`;
};

async function smallest(reader: Reader, text: string, kind: string): Promise<string> {
  let best = text;
  let tries = 0;
  for (let found = true; found && tries < TRIES; ) {
    found = false;
    for (const candidate of shorter(best)) {
      if (tries++ >= TRIES) {
        break;
      }
      if (candidate.length < best.length && kindOf(await reader.read(candidate, 0)) === kind) {
        best = candidate;
        found = true;
        break;
      }
    }
  }
  return best;
}

/** Reads configurations in this process, as `-t` does, and with nginx. */
class Reader {
  readonly #dir: string;
  readonly #nginx: string;
  readonly #keys: { readonly cert: string; readonly key: string };

  private constructor(dir: string, nginx: string) {
    this.#dir = dir;
    this.#nginx = nginx;
    this.#keys = certs().rsa;
  }

  static async make(scene: Scene, nginx: string): Promise<Reader> {
    const { dir } = await makePrefix(scene);
    cpSync(`${root}conf`, dir, { recursive: true });
    return new Reader(dir, nginx);
  }

  /** The first error that each of both has with a text. `lane`: others that are read at the same time have other files. */
  async read(text: string, lane: number): Promise<Verdicts> {
    const path = `${this.#dir}/read-${lane}`;
    writeFileSync(path, atHome(text, this.#keys).replaceAll('%%DIR%%', this.#dir), 'latin1');
    const [ours, theirs] = await Promise.all([this.#ours(path), this.#theirs(path)]);
    const clean = (message: string): string => message.replaceAll(path, 'FILE').replaceAll(this.#dir, 'DIR');
    return { ours: clean(ours), theirs: clean(theirs) };
  }

  async #ours(entry: string): Promise<string> {
    try {
      const prefix = `${this.#dir}/`;
      const errorLog = 'stderr';
      await loadConfiguration({ entry, prefix, confPrefix: prefix, errorLog, globals: '', pid: 'logs/sluice.pid', signalling: false });
      return '';
    } catch (error) {
      return error instanceof ConfigErrors
        ? (error.findings[0]?.message.split(/[\r\n]/, 1)[0] ?? 'refused')
        : `exception: ${(error as Error).stack}`;
    }
  }

  /** nginx reads all, and then stops at a pid file that cannot be: it opens no logs, sockets and folders that a configuration names. */
  #theirs(path: string): Promise<string> {
    const args = ['-t', '-p', `${this.#dir}/`, '-c', path, '-e', 'stderr', '-g', `pid ${NO_PID};`];
    return new Promise((done) => {
      execFile(this.#nginx, args, { encoding: 'latin1' }, (_error, _stdout, stderr) => {
        const message = /^(?:\w+: |\S+ \S+ )\[(?:emerg|crit)\] (?:\d+#\d+: )?(.*)$/m.exec(stderr)?.[1];
        const end = message?.includes(NO_PID) || (message === undefined && /syntax is ok/.test(stderr));
        done(end ? '' : (message ?? `no message: ${stderr}`));
      });
    });
  }
}

const NO_PID = '/nonexistent/folder/pid';
