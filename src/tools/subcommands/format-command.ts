import { readFileSync } from 'node:fs';
import { EXIT } from '../../master/command-line/exit-codes.js';
import { applyInclude } from '../../shared/config/apply.js';
import { ConfigError, diagnosticDetail, placedMessage, syntaxError, unlessConfigError, withErrno } from '../../shared/config/errors.js';
import type { Node } from '../../shared/config/language/ast.js';
import { parseConfig } from '../../shared/config/language/parser.js';
import { diskSources, type Sources } from '../../shared/config/sources.js';
import { fsPath } from '../../shared/files/fs-path.js';
import { byteText } from '../../shared/text/native-text.js';
import { formatConfig } from '../format/format.js';
import type { SubcommandValues } from './command.js';
import { replaceFile } from './replace-file.js';
import { serverOptions } from './server-options.js';

/**
 * Runs `sluice format`; resolves to the exit code: 1 when a file cannot be parsed, read or written, or when `--check` finds one that is not
 * in the style.
 */
export function runFormatCommand(values: SubcommandValues): number {
  const given = ((values.files as readonly string[] | undefined) ?? []).map((file) => absolute(byteText(file)));
  const check = values.check === true;
  if (values.stdin === true) {
    return attempt(() => process.stdout.write(formatted(readFileSync(0, 'latin1'), 'standard input'), 'latin1')) ? EXIT.OK : EXIT.NO;
  }
  if (given.length === 0 && values.conf === undefined) {
    process.stderr.write('sluice: format: name the files, or the main configuration file with -c, or say --stdin\n');
    return EXIT.USAGE;
  }
  let code: number = EXIT.OK;
  for (const file of filesToFormat(given, values)) {
    const tried = attempt(() => {
      if (formatFile(file, check)) {
        process.stdout.write(`${file}\n`, 'latin1');
        code = check ? EXIT.NO : code;
      }
    });
    code = tried ? code : EXIT.NO;
  }
  return code;
}

/** Does one file's work, and says what is wrong with the file; false if something is. */
function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    process.stderr.write(`sluice: format: ${placedMessage(error)}\n${error.hint ?? ''}`, 'latin1');
    return false;
  }
}

/** The files named, or the main configuration file; with `--includes` also those that they include, each once. */
function filesToFormat(given: readonly string[], values: SubcommandValues): readonly string[] {
  const options = serverOptions(values, undefined);
  const files = given.length === 0 ? [options.entry] : given;
  if (values.includes !== true) {
    return files;
  }
  const all = new Set<string>();
  for (const file of files) {
    const confPrefix = given.length === 0 ? options.confPrefix : file.slice(0, file.lastIndexOf('/') + 1);
    all.add(file);
    for (const included of includedFiles(diskSources({ ...options, entry: file, confPrefix }))) {
      all.add(included);
    }
  }
  return [...all];
}

/** The files that an entry file includes, and those that they include. One that cannot be read is left out. */
function includedFiles(sources: Sources): readonly string[] {
  const visit = (nodes: readonly Node[]): void => {
    for (const node of nodes) {
      if ('syntaxError' in node) {
        continue;
      }
      if (node.name === 'include') {
        unlessConfigError(() => applyInclude(node, visit, sources));
      } else if (node.block !== undefined) {
        visit(node.block);
      }
    }
  };
  unlessConfigError(() => visit(sources.parse(sources.entry)));
  return sources.order;
}

/** Formats one file in place; true if it was not in the style. With `check` the file stays as it is. */
function formatFile(file: string, check: boolean): boolean {
  let before: string;
  try {
    before = readFileSync(fsPath(file), 'latin1');
  } catch (error) {
    throw new ConfigError(withErrno(`open() "${file}" failed`, error));
  }
  const after = formatted(before, file);
  if (after === before) {
    return false;
  }
  if (!check) {
    try {
      replaceFile(file, after);
    } catch (error) {
      throw new ConfigError(withErrno(`cannot write "${file}"`, error));
    }
  }
  return true;
}

/** @throws ConfigError with what is wrong in the text, so that only what the parser understands is changed. */
function formatted(text: string, file: string): string {
  const before = parseConfig(text, file);
  const wrong = firstError(before);
  if (wrong !== undefined) {
    throw new ConfigError(wrong.message, wrong.pos, { hint: diagnosticDetail(wrong, () => text) });
  }
  const after = formatConfig(text);
  if (meaning(parseConfig(after, file)) !== meaning(before)) {
    throw new ConfigError(`formatting would change the meaning of "${file}"; it stays as it is`);
  }
  return after;
}

function firstError(nodes: readonly Node[]): ConfigError | undefined {
  for (const node of nodes) {
    const error = 'syntaxError' in node ? syntaxError(node) : firstError(node.block ?? []);
    if (error !== undefined) {
      return error;
    }
  }
  return undefined;
}

/** The words and blocks of a tree, without their places. */
function meaning(nodes: readonly Node[]): string {
  const words = (node: Node): unknown =>
    'syntaxError' in node ? node.syntaxError : { name: node.name, args: node.args, block: node.block?.map(words) };
  return JSON.stringify(nodes.map(words));
}

const absolute = (file: string): string => (file.startsWith('/') ? file : `${byteText(process.cwd())}/${file}`);
