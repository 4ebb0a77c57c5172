import { globFiles } from '../../shared/config/glob.js';
import type { Node } from '../../shared/config/language/ast.js';
import { parseConfig } from '../../shared/config/language/parser.js';
import { Registry } from '../../shared/config/registry.js';
import { language } from '../../worker/language.js';
import { modules } from '../../worker/modules/index.js';
import { formatConfig } from '../format/format.js';
import { type Completion, completionsAt } from './completion.js';
import { contextIn, guessedContext } from './contexts.js';
import { type OutlineItem, outlineOf } from './outline.js';
import { type Problem, problemsOf, syntaxProblems } from './problems.js';
import type { Reference } from './reference.js';
import { bare, cursorAt, nameOf, statementsOf } from './statements.js';
import { type Occurrence, occurrenceAt, occurrences } from './symbols.js';
import { type ColouredToken, tokensOf } from './tokens.js';
import type { Whole, Workspace } from './workspace.js';

/** Bytes of a file. */
export interface TextRange {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

const registry = new Registry(language);
const variables = modules.flatMap((module) => (module.variables ?? []).flatMap(({ name, prefix }) => (prefix ? [] : [name]))).sort();
const prefixes = modules.flatMap((module) => (module.variables ?? []).flatMap(({ name, prefix }) => (prefix ? [name] : [])));

/** Answers an editor's questions about configuration files. Texts are latin1; places are bytes of a file's text. */
export class Editor {
  readonly #workspace: Workspace;
  readonly #reference: Reference;

  constructor(workspace: Workspace, reference: Reference) {
    this.#workspace = workspace;
    this.#reference = reference;
  }

  /** What is wrong in the configuration that a file belongs to; in the file alone when it belongs to none. */
  async problems(file: string): Promise<{ readonly files: readonly string[]; readonly problems: readonly Problem[] }> {
    const whole = this.#workspace.wholeOf(file);
    const text = this.#workspace.text(file, whole);
    if (whole !== undefined) {
      return { files: [...whole.contexts.keys()], problems: await problemsOf(whole, this.#workspace.overlay) };
    }
    return { files: [file], problems: text === undefined ? [] : syntaxProblems(text, file) };
  }

  completions(file: string, at: number): readonly Completion[] {
    const { text, whole } = this.#textOf(file);
    return completionsAt(text, at, cursorAt(text, at), this.#contextOfTop(file, text, whole), {
      reference: this.#reference,
      directives: (context) =>
        [...registry.names(), 'include'].filter((name) => name === 'include' || (this.#allowed(name) & context) !== 0).sort(),
      variables,
      names: (kind) => [
        ...new Set(this.#everywhere(file, text, whole).flatMap((found) => (found.kind === kind && found.defines ? [found.name] : []))),
      ],
    });
  }

  /** The reference's text for the word at a byte (Markdown), and the bytes of the word. */
  hover(file: string, at: number): { readonly text: string; readonly range: TextRange } | undefined {
    const { text, whole } = this.#textOf(file);
    const cursor = cursorAt(text, at);
    if (cursor.inComment || cursor.word === undefined || cursor.statement === undefined) {
      return undefined;
    }
    const symbol = occurrenceAt(text, at);
    if (symbol?.kind === 'variable') {
      const defined = this.#definitions(file, text, whole, symbol).at(0);
      const own = defined === undefined ? undefined : `\`\`\`nginx\n${defined.source}\n\`\`\``;
      const described = this.#variableText(symbol.name) ?? own;
      return described === undefined ? undefined : { text: described, range: { file, start: symbol.start, end: symbol.end } };
    }
    const known = this.#reference.directives[nameOf(cursor.statement)];
    const { start, text: word } = cursor.word;
    const context = contextIn(cursor.block, this.#contextOfTop(file, text, whole));
    if (cursor.index > 0 || known === undefined || context === 0) {
      return undefined;
    }
    return { text: known.join('\n\n---\n\n'), range: { file, start, end: start + word.length } };
  }

  /** Where the name at a byte is defined, or the files that an `include` brings. */
  definition(file: string, at: number): readonly TextRange[] {
    const { text, whole } = this.#textOf(file);
    const cursor = cursorAt(text, at);
    if (cursor.statement !== undefined && nameOf(cursor.statement) === 'include' && cursor.index === 1 && cursor.word !== undefined) {
      const name = bare(cursor.word.text);
      const folder = whole?.options.confPrefix ?? file.slice(0, file.lastIndexOf('/') + 1);
      return globFiles(name.startsWith('/') ? name : folder + name).map((found) => ({ file: found, start: 0, end: 0 }));
    }
    const symbol = occurrenceAt(text, at);
    return symbol === undefined ? [] : this.#definitions(file, text, whole, symbol);
  }

  /** Every place of the name at a byte. */
  references(file: string, at: number): readonly TextRange[] {
    const { text, whole } = this.#textOf(file);
    const symbol = occurrenceAt(text, at);
    return symbol === undefined ? [] : this.#everywhere(file, text, whole).filter((found) => same(found, symbol));
  }

  /** The places to be changed when the name at a byte gets another; undefined for one that is not the configuration's own. */
  rename(file: string, at: number, name: string): readonly TextRange[] | undefined {
    const { text, whole } = this.#textOf(file);
    const symbol = occurrenceAt(text, at);
    if (symbol === undefined || this.#definitions(file, text, whole, symbol).length === 0 || !fits(symbol, name)) {
      return undefined;
    }
    return this.references(file, at);
  }

  /** The text in the style of `sluice format`; undefined while it has a syntax error. */
  formatted(file: string): string | undefined {
    const { text } = this.#textOf(file);
    const broken = (nodes: readonly Node[]): boolean => nodes.some((node) => 'syntaxError' in node || broken(node.block ?? []));
    return broken(parseConfig(text, file)) ? undefined : formatConfig(text);
  }

  /** The blocks of a file. */
  outline(file: string): readonly OutlineItem[] {
    return outlineOf(this.textOf(file));
  }

  /** The pieces of a file that are coloured. */
  tokens(file: string): readonly ColouredToken[] {
    return tokensOf(this.textOf(file));
  }

  /** The text of a file as the editor, or else the disk, has it. */
  textOf(file: string): string {
    return this.#textOf(file).text;
  }

  #textOf(file: string): { readonly text: string; readonly whole: Whole | undefined } {
    const whole = this.#workspace.wholeOf(file);
    return { text: this.#workspace.text(file, whole) ?? '', whole };
  }

  #contextOfTop(file: string, text: string, whole: Whole | undefined): number {
    return whole?.contexts.get(file) ?? guessedContext(statementsOf(text), (name) => this.#allowed(name));
  }

  /** The contexts that a directive may stand in. */
  #allowed(name: string): number {
    return (registry.rows(name) ?? []).reduce((bits, { directive }) => bits | directive.in, 0);
  }

  /** Every name of the configuration's own, in all its files. */
  #everywhere(file: string, text: string, whole: Whole | undefined): readonly (Occurrence & TextRange & { readonly source: string })[] {
    const files = whole === undefined ? [file] : [...whole.contexts.keys()];
    return files.flatMap((name) => {
      const content = name === file ? text : (this.#workspace.text(name, whole) ?? '');
      return occurrences(content).map((found) => ({
        ...found,
        file: name,
        source: content.slice(found.statement.start, found.statement.end).replace(/\s*\{$/, ' { ... }'),
      }));
    });
  }

  #definitions(
    file: string,
    text: string,
    whole: Whole | undefined,
    symbol: Occurrence,
  ): readonly (TextRange & { readonly source: string })[] {
    return this.#everywhere(file, text, whole).filter((found) => found.defines && same(found, symbol));
  }

  #variableText(name: string): string | undefined {
    const prefix = prefixes.find((word) => name.startsWith(word));
    const found = this.#reference.variables[name] ?? (prefix === undefined ? undefined : this.#reference.variables[`${prefix}NAME`]);
    return found === undefined ? undefined : `\`$${name}\`\n\n${found}`;
  }
}

const same = (a: Occurrence, b: Occurrence): boolean => a.kind === b.kind && a.name === b.name;

/** Whether a name can be one of this kind. */
function fits({ kind }: Occurrence, name: string): boolean {
  return (kind === 'variable' ? /^[A-Za-z_]\w*$/ : kind === 'location' ? /^@[^\s;{}"'$]+$/ : /^[\w.-]+$/).test(name);
}
