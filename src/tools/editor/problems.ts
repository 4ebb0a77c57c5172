import { type Diagnostic, placedMessage, syntaxError } from '../../shared/config/errors.js';
import type { Node } from '../../shared/config/language/ast.js';
import { parseConfig } from '../../shared/config/language/parser.js';
import { LoadFailure, loadFromDisk } from '../../shared/config/load.js';
import type { Request } from '../../worker/http/request/request.js';
import { language } from '../../worker/language.js';
import { lintConfiguration } from '../lint/lint.js';
import type { Whole } from './workspace.js';

/** A message about a place. Lines and columns count from 1, columns in bytes. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning' | 'information';
  readonly message: string;
  /** The rule of `sluice lint` that found it. */
  readonly rule?: string;
}

/** What `-t` and `sluice lint` say about a configuration, with the texts that the editor has. */
export async function problemsOf(whole: Whole, edited: ReadonlyMap<string, string>): Promise<readonly Problem[]> {
  const found: Problem[] = [];
  try {
    const { warnings } = await loadFromDisk<Request>(language, { ...whole.options, edited });
    found.push(...warnings.flatMap(problem));
  } catch (error) {
    if (!(error instanceof LoadFailure)) {
      throw error;
    }
    found.push(...[...error.errors, ...error.warnings].flatMap(problem));
  }
  for (const { file, line, column, problem: text, remedy, rule } of lintConfiguration(whole.sources)) {
    found.push({ file, line, column, severity: 'information', message: `${text}\nwrite: ${remedy}`, rule });
  }
  return found;
}

/** What is wrong with the syntax of a file that belongs to no configuration. */
export function syntaxProblems(text: string, file: string): readonly Problem[] {
  const wrong = (nodes: readonly Node[]): Problem[] =>
    nodes.flatMap((node) => ('syntaxError' in node ? problem(syntaxError(node)) : wrong(node.block ?? [])));
  return wrong(parseConfig(text, file));
}

function problem(diagnostic: Diagnostic): Problem[] {
  const { pos, caret, level, message, hint } = diagnostic;
  if (pos === undefined) {
    return [];
  }
  const [line, column] = caret ?? [pos.line, pos.column];
  const severity = level === 'warn' ? 'warning' : level === 'notice' ? 'information' : 'error';
  const text = pos.line === line ? message : placedMessage(diagnostic);
  return [{ file: pos.file, line, column, severity, message: hint === undefined ? text : `${text}\n${hint}` }];
}
