import { readdirSync, readFileSync, statSync, watch, writeFileSync } from 'node:fs';
import { EXIT } from '../../master/command-line/exit-codes.js';
import { loadOptions } from '../../master/command-line/places.js';
import type { Snapshot } from '../../shared/config/configuration.js';
import { fsPath } from '../../shared/files/fs-path.js';
import { byteText } from '../../shared/text/native-text.js';
import { setTimer } from '../../shared/time/timer.js';
import { type Case, CaseError, readCases } from '../cases/case-file.js';
import { recordCase } from '../cases/case-record.js';
import { junitReport, tapReport, textReport } from '../cases/case-reports.js';
import { type CaseResult, CaseRunner, passed } from '../cases/case-runner.js';
import { loadConfiguration } from '../configuration.js';
import { complete, parseLogLine, parseWords, RequestError, type RequestParts } from '../explain/explain-request.js';
import { readersOf, usualPort } from '../explain/rehearsed-places.js';
import { Rehearsal, RehearsalError } from '../rehearsal/rehearsal.js';
import type { SubcommandValues } from './command.js';
import { tellConfigErrors } from './config-errors.js';
import { serverOptions, textValue } from './server-options.js';

/** Files of cases are called so. */
const SUFFIX = '.test.conf';
/** Folders within folders that are looked through. */
const DEEPEST = 16;
/** How many different requests of a log become cases; more would say the same. */
const MOST_RECORDED = 500;
/** Milliseconds in which several changes of files count as one. */
const TOGETHER = 100;

/** Files and the cases in them. */
export type CaseFiles = readonly (readonly [file: string, cases: readonly Case[]])[];

/** Runs `sluice test`; resolves to the exit code: 0 when every case passed, 1 when one failed. */
export async function runTestCommand(values: SubcommandValues): Promise<number> {
  try {
    const record = textValue(values, 'record');
    const log = textValue(values, 'from');
    if (record !== undefined || log !== undefined) {
      return await writeCases(values, record, log);
    }
    if (values.watch === true) {
      return await watchCases(values);
    }
    return await testOnce(values);
  } catch (error) {
    return report(error);
  }
}

function report(error: unknown): number {
  if (error instanceof CaseError) {
    process.stderr.write(`sluice: test: ${error.message} in ${error.pos.file}:${error.pos.line}\n`, 'latin1');
    return EXIT.USAGE;
  }
  if (error instanceof RequestError || error instanceof RehearsalError || (error as NodeJS.ErrnoException).syscall !== undefined) {
    process.stderr.write(`sluice: test: ${(error as Error).message}\n`, 'latin1');
    return EXIT.USAGE;
  }
  return tellConfigErrors(error);
}

async function testOnce(values: SubcommandValues): Promise<number> {
  const began = performance.now();
  const { snapshot } = await loadConfiguration(serverOptions(values, undefined));
  const files = filesOf(values, snapshot);
  const results = await runCases(snapshot, files, await namedBy(files, snapshot));
  const elapsed = performance.now() - began;
  process.stdout.write(values.tap === true ? tapReport(results) : textReport(results, elapsed), 'latin1');
  const junit = textValue(values, 'junit');
  if (junit !== undefined) {
    writeFileSync(fsPath(junit), junitReport(results, elapsed));
  }
  return results.every(passed) ? EXIT.OK : EXIT.NO;
}

/** What tells a file from others, whatever the path to it; its path if there is none. */
function fileId(path: string): string {
  const stats = statSync(fsPath(path), { throwIfNoEntry: false });
  return stats === undefined ? path : `${stats.dev}:${stats.ino}`;
}

/** The configurations that files of cases name, by their paths; each has its folder as its prefix, but for the one that was given. */
async function namedBy(files: CaseFiles, given: Snapshot): Promise<ReadonlyMap<string, Snapshot>> {
  const named = new Map<string, Snapshot>();
  for (const [, cases] of files) {
    const path = cases[0]?.configuration;
    if (path === undefined || named.has(path) || fileId(path) === fileId(given.entry)) {
      continue;
    }
    const name = path.slice(path.lastIndexOf('/') + 1);
    const prefix = path.slice(0, path.lastIndexOf('/') + 1) || './';
    const options = loadOptions({ prefix, conf: name, globals: undefined, errorLog: undefined, signal: undefined });
    named.set(path, (await loadConfiguration(options)).snapshot);
  }
  return named;
}

/**
 * Runs all cases, one after the other: on the configurations that their files name, or on the first one. Throws {@link RehearsalError}
 * when one has no `http` block.
 */
async function runCases(snapshot: Snapshot, files: CaseFiles, named: ReadonlyMap<string, Snapshot>): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  // One for all files in a row that are about the same configuration, which is compiled for it.
  let runner: CaseRunner | undefined;
  let current: Snapshot | undefined;
  try {
    for (const [file, cases] of files) {
      const wanted = named.get(cases[0]?.configuration ?? '') ?? snapshot;
      if (runner === undefined || wanted !== current) {
        runner?.close();
        runner = undefined;
        runner = new CaseRunner(wanted);
        current = wanted;
      }
      for (const one of cases) {
        results.push(await runner.run(file, one));
      }
    }
    return results;
  } finally {
    runner?.close();
  }
}

/** The files that the command line names, or those beside the configuration. Throws {@link CaseError} and {@link RequestError}. */
function filesOf(values: SubcommandValues, { entry }: Snapshot): CaseFiles {
  const words = values.cases;
  const named = (Array.isArray(words) ? words : []).map(byteText);
  return readCaseFiles(named.length > 0 ? named : [entry.slice(0, entry.lastIndexOf('/') + 1) || '.']);
}

/** Reads files of cases, and those in folders. Throws {@link CaseError}, and {@link RequestError} when there is none. */
export function readCaseFiles(paths: readonly string[]): CaseFiles {
  const files = paths.flatMap((path) => (statSync(fsPath(path)).isDirectory() ? filesIn(path, 0) : [path]));
  if (files.length === 0) {
    throw new RequestError(`there is no file *${SUFFIX} in ${paths.join(', ')}`);
  }
  return files.map((file) => [file, readCases(file)]);
}

function filesIn(folder: string, depth: number): string[] {
  const base = folder.endsWith('/') ? folder : `${folder}/`;
  return readdirSync(fsPath(base), { withFileTypes: true, encoding: 'latin1' as BufferEncoding })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((each) => {
      if (each.isDirectory()) {
        return depth < DEEPEST && each.name !== 'node_modules' ? filesIn(base + each.name, depth + 1) : [];
      }
      return each.name.endsWith(SUFFIX) ? [base + each.name] : [];
    });
}

/** Tests again after each change of a file, until the process is ended. */
async function watchCases(values: SubcommandValues): Promise<never> {
  for (;;) {
    const changed = nextChange(await foldersOf(values));
    try {
      await testOnce(values);
    } catch (error) {
      report(error);
    }
    process.stdout.write('waiting for a change ...\n');
    await changed;
  }
}

/** The folders of the configuration's files and of the cases. */
async function foldersOf(values: SubcommandValues): Promise<ReadonlySet<string>> {
  const options = serverOptions(values, undefined);
  const files = new Set([options.entry]);
  const words = values.cases;
  for (const path of Array.isArray(words) ? words : []) {
    files.add(statSync(path).isDirectory() ? `${path}/.` : path);
  }
  try {
    for (const file of Object.keys((await loadConfiguration(options)).snapshot.files)) {
      files.add(file);
    }
  } catch {
    // What is wrong with it is told when the cases are run.
  }
  return new Set([...files].map((file) => file.slice(0, file.lastIndexOf('/') + 1) || './'));
}

function nextChange(folders: ReadonlySet<string>): Promise<void> {
  return new Promise((done) => {
    const watchers = [...folders].map((folder) => watch(fsPath(folder), changed));
    let told = false;
    function changed(): void {
      if (told) {
        return;
      }
      told = true;
      setTimer(() => {
        watchers.forEach((each) => void each.close());
        done();
      }, TOGETHER);
    }
  });
}

/** Writes cases of what happens today, for one request or for those of a log. */
async function writeCases(values: SubcommandValues, record: string | undefined, log: string | undefined): Promise<number> {
  const { snapshot } = await loadConfiguration(serverOptions(values, undefined));
  const rehearsal = new Rehearsal(snapshot);
  try {
    const requests = log === undefined ? [parseWords([record!])] : requestsOf(log, rehearsal);
    const names = new Set<string>();
    const now = Date.now();
    for (const parts of requests) {
      const { request, options } = complete(parts, usualPort(rehearsal));
      const outcome = await rehearsal.run(request, { ...options, now });
      const plain = `${request.method ?? 'GET'} ${parts.url ?? '/'} is answered ${outcome.response.status}`;
      let name = plain;
      for (let n = 2; names.has(name); n++) {
        name = `${plain} (${n})`;
      }
      names.add(name);
      process.stdout.write(recordCase(name, parts, now, outcome), 'latin1');
    }
    return EXIT.OK;
  } finally {
    rehearsal.close();
  }
}

/** The different requests of an access log, without what only one client had. */
function requestsOf(log: string, rehearsal: Rehearsal): RequestParts[] {
  const readers = readersOf(rehearsal);
  const seen = new Map<string, RequestParts>();
  let read = 0;
  for (const line of readFileSync(fsPath(log), 'latin1').split('\n')) {
    if (line === '' || seen.size === MOST_RECORDED) {
      continue;
    }
    try {
      const parts = parseLogLine(line, readers);
      read++;
      const kept = { ...parts, address: undefined, headers: parts.headers.filter(([name]) => name.toLowerCase() === 'host') };
      const key = JSON.stringify([kept.method, kept.url, kept.headers]);
      if (!seen.has(key)) {
        seen.set(key, kept);
      }
    } catch (error) {
      if (!(error instanceof RequestError)) {
        throw error;
      }
    }
  }
  if (read === 0) {
    throw new RequestError(`no line of "${log}" is one of an access log that is known`);
  }
  return [...seen.values()];
}
