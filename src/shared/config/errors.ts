import { errnoText } from '../system/errno.js';
import type { Block } from './block.js';
import { argPosition, commandLine, type DirectiveNode, type Pos, type RelatedPosition, type SyntaxErrorNode } from './language/ast.js';
import { sourceExcerpt } from './source-excerpt.js';

/** nginx cuts a message about the configuration to this many bytes, its place not counted. nginx: NGX_MAX_CONF_ERRSTR */
const maxMessage = 1024;

/** The severities a message about the configuration can have. */
export type DiagnosticLevel = 'emerg' | 'alert' | 'crit' | 'error' | 'warn' | 'notice';

/** What is known about an error beyond nginx's one line. */
export interface DiagnosticDetails {
  /** What a person may do about it. */
  readonly hint?: string | undefined;
  /** Where the caret points if that is not the place the message names: [line, column] in the same file. */
  readonly caret?: readonly [number, number] | undefined;
  readonly related?: readonly RelatedPosition[] | undefined;
}

/** A message about the configuration. Its `pos.line` is the line nginx names. */
export interface Diagnostic extends DiagnosticDetails {
  readonly level: DiagnosticLevel;
  readonly message: string;
  readonly pos?: Pos | undefined;
}

/** Ends the reading of a configuration. Carries nginx's message (latin1) and can itself be rendered as a Diagnostic. */
export class ConfigError extends Error implements Diagnostic {
  override readonly name = 'ConfigError';
  readonly level: DiagnosticLevel;
  readonly pos: Pos | undefined;
  readonly hint: string | undefined;
  readonly caret: readonly [number, number] | undefined;
  readonly related: readonly RelatedPosition[] | undefined;

  /** @param pos Undefined where nginx names no place. @param details Level 'emerg' unless given. */
  constructor(message: string, pos?: Pos | undefined, details: DiagnosticDetails & { readonly level?: DiagnosticLevel } = {}) {
    super(message);
    this.pos = pos;
    this.level = details.level ?? 'emerg';
    this.hint = details.hint;
    this.caret = details.caret;
    this.related = details.related;
  }
}

/** The place nginx names for a directive: the line of its `;` or `{`. */
export function reportedPos(node: DirectiveNode): Pos {
  return { file: node.pos.file, line: node.endLine, column: node.pos.column };
}

/** An error in a directive, with the caret at its name, or at one argument (counted from 0). */
export function directiveError(
  node: DirectiveNode,
  message: string,
  details: DiagnosticDetails & { readonly arg?: number } = {},
): ConfigError {
  const arg = details.arg === undefined ? undefined : argPosition(node, details.arg);
  const caret = details.caret ?? arg ?? [node.pos.line, node.pos.column];
  return new ConfigError(message, reportedPos(node), { ...details, caret });
}

/** The place of the `}` that ends a block. */
export function closingPos(node: DirectiveNode): Pos {
  return { ...node.pos, line: node.closeLine ?? node.endLine };
}

/** An error that shows once a block is complete: nginx names the line of its `}`, the caret points at the directive that opened it. */
export function blockError(node: DirectiveNode, message: string, details: DiagnosticDetails = {}): ConfigError {
  return new ConfigError(message, { ...closingPos(node), column: 1 }, { caret: [node.pos.line, node.pos.column], ...details });
}

/** The place nginx names for what it finds when it merges settings: the `}` of the `http` (or `stream`) block. */
export function mergeErrorPos(block: Block): Pos | undefined {
  let at = block;
  while (at.parent?.node !== undefined) {
    at = at.parent;
  }
  return at.node === undefined ? undefined : closingPos(at.node);
}

/** The error a SyntaxErrorNode stands for. */
export function syntaxError(node: SyntaxErrorNode): ConfigError {
  return new ConfigError(node.syntaxError, node.pos, node);
}

/** A message with the reason why a system call failed: `open() "F" failed (2: No such file or directory)`. nginx: ngx_log_errno */
export function withErrno(message: string, err: unknown): string {
  const room = maxMessage - 50;
  return `${message.length > room ? `${message.slice(0, room)}...` : message} (${errnoText(err)})`;
}

/** A message with its place as nginx writes it: `MESSAGE in FILE:LINE`, `MESSAGE in command line`. nginx: ngx_conf_log_error */
export function placedMessage(diagnostic: Diagnostic): string {
  const { message, pos } = diagnostic;
  if (pos === undefined) {
    return message;
  }
  return `${message.slice(0, maxMessage)} in ${placeText(pos)}`;
}

function placeText(pos: Pos): string {
  return pos.file === commandLine ? commandLine : `${pos.file}:${pos.line}`;
}

/**
 * What helps a person beyond nginx's one line (latin1): the line of the source with a caret under the place, the hint, and related
 * places. Its lines are indented; it is empty or ends in a line feed. `text` gives a file's content; without it there is no excerpt.
 */
export function diagnosticDetail(diagnostic: Diagnostic, text: (file: string) => string | undefined): string {
  const { pos, hint } = diagnostic;
  const lines: string[] = [];
  if (pos !== undefined) {
    const [line, column] = diagnostic.caret ?? [pos.line, pos.column];
    lines.push(...sourceExcerpt(text(pos.file), line, column));
  }
  if (hint !== undefined) {
    lines.push(`    hint: ${hint}`);
  }
  for (const related of diagnostic.related ?? []) {
    lines.push(`    note: ${related.text}, in ${placeText(related.pos)}`);
    lines.push(...sourceExcerpt(related.source ?? text(related.pos.file), related.pos.line, related.pos.column));
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** Runs an action for tools that leave it to `-t` to tell what is wrong; undefined when a ConfigError ended it. */
export function unlessConfigError<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    return undefined;
  }
}
