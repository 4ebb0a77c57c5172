import type { Node, Pos } from '../../shared/config/language/ast.js';
import { parseConfig } from '../../shared/config/language/parser.js';
import { byteText, nativeText } from '../../shared/text/native-text.js';
import { formatConfig } from '../format/format.js';

/** One directive of a configuration. */
export interface ProgramDirective {
  readonly name: string;
  /** Without quotes and escapes. */
  readonly args: readonly string[];
  /** From 1. */
  readonly line: number;
  readonly column: number;
  /** What stands between `{` and `}`; undefined where there is no block. */
  readonly block?: readonly ProgramDirective[];
}

/** A text that is no configuration. The message is nginx's. */
export class ParseError extends Error {
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(`${message} in line ${line}`);
    this.name = 'ParseError';
    this.line = line;
    this.column = column;
  }
}

const text = (bytes: string): string => nativeText(bytes);

/** Reads the text of a configuration; `include` is a directive as any other. Throws {@link ParseError}. */
export function parse(configuration: string): ProgramDirective[] {
  const bytes = byteText(configuration);
  return directivesOf(parseConfig(bytes, 'configuration'), new Columns(bytes));
}

/** Counts characters where the parser counts bytes. It is asked from the beginning of the text to its end. */
class Columns {
  readonly #bytes: string;
  #line = 1;
  /** Where the line begins, and up to where its characters were counted. */
  #at = 0;
  #byte = 1;
  #column = 1;

  constructor(bytes: string) {
    this.#bytes = bytes;
  }

  of({ line, column }: Pos): number {
    for (; this.#line < line; this.#line++) {
      this.#at = this.#bytes.indexOf('\n', this.#at) + 1;
      this.#byte = 1;
      this.#column = 1;
    }
    if (column > this.#byte) {
      this.#column += text(this.#bytes.slice(this.#at + this.#byte - 1, this.#at + column - 1)).length;
      this.#byte = column;
    }
    return this.#column;
  }
}

function directivesOf(nodes: readonly Node[], columns: Columns): ProgramDirective[] {
  return nodes.map((node) => {
    if ('syntaxError' in node) {
      throw new ParseError(text(node.syntaxError), node.pos.line, columns.of(node.pos));
    }
    const { name, args, pos, block } = node;
    return {
      name: text(name),
      args: args.map(text),
      line: pos.line,
      column: columns.of(pos),
      ...(block === undefined ? {} : { block: directivesOf(block, columns) }),
    };
  });
}

/** The text in one style, as `sluice format` writes it. Throws {@link ParseError}. */
export function format(configuration: string): string {
  parse(configuration);
  return text(formatConfig(byteText(configuration)));
}
