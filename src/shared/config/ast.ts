/** A place in the configuration. `line` and `column` count from 1; nginx's own messages show file and line only. */
export interface Pos {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * One directive as it stands in the text. A directive's name is its first word after quotes and escapes are taken off;
 * inside a free-form block (`map`, `types`, `geo`) it is the first word of the entry.
 */
export interface DirectiveNode {
  readonly name: string;
  readonly args: readonly string[];
  /** Present (perhaps empty) when the directive ended in `{`. */
  readonly block?: readonly Node[];
  /** Where the directive's first word starts. */
  readonly pos: Pos;
  /** The line on which the directive ended (`;` or `{`), which is the line nginx's messages show. */
  readonly endLine: number;
  /** Columns and lines where each argument starts, for carets: [line, column] per argument. */
  readonly argPos: readonly (readonly [number, number])[];
}

/**
 * Stands where the text stops making sense. It is always the last node of its block and nothing follows it, so that an error of meaning
 * before it is reported first, as nginx's streaming parser does.
 */
export interface SyntaxErrorNode {
  readonly syntaxError: string;
  readonly pos: Pos;
}

export type Node = DirectiveNode | SyntaxErrorNode;
