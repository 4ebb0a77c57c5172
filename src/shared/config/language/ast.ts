/** A place in the configuration. `line` and `column` count from 1; nginx's own messages show file and line only. */
export interface Pos {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * The `file` of a Pos in the text of `-g`: messages then end in "in command line". No file is called so, since file names are full
 * paths.
 */
export const commandLine = 'command line';

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
  /** The line of the block's `}`, which is the line nginx shows for what is checked once a block is complete. */
  readonly closeLine?: number;
  /** Where each argument of the whole text starts, and where in that list this directive's begin; see {@link argPosition}. */
  readonly places: readonly number[];
  readonly placesAt: number;
}

/** Line and column where an argument (counted from 0) starts, for carets; undefined for one that is not there. */
export function argPosition({ args, places, placesAt }: DirectiveNode, arg: number): [number, number] | undefined {
  const at = placesAt + arg * 2;
  return arg in args ? [places[at]!, places[at + 1]!] : undefined;
}

/** Another place that helps to understand an error, such as the `{` that was never closed. */
export interface RelatedPosition {
  readonly pos: Pos;
  readonly text: string;
  /** The content of the file (latin1), where it is none of the configuration. */
  readonly source?: string | undefined;
}

/**
 * Stands where the text stops making sense. It is always the last node of its block and nothing follows it, so that an error of meaning
 * before it is reported first, as nginx's streaming parser does.
 */
export interface SyntaxErrorNode {
  readonly syntaxError: string;
  /** The line nginx names, and the column of the offending character. */
  readonly pos: Pos;
  readonly hint?: string;
  readonly related?: readonly RelatedPosition[];
}

export type Node = DirectiveNode | SyntaxErrorNode;
