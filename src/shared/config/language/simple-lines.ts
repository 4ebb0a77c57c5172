import type { DirectiveNode, Node, Pos } from './ast.js';
import { End, Lexer, type TextPlace } from './lexer.js';

const tab = 9;
const lf = 10;
const cr = 13;
const space = 32;
const sharp = 35;
const semicolon = 59;
const backslash = 92;
const openingBrace = 123;
const closingBrace = 125;

/** Longer words and comments are left to the lexer, which knows when nginx refuses them. */
const LONG = 4000;

/** The directive that the lexer's last run of words makes. */
export function directiveOf(lexer: Lexer, file: string): DirectiveNode {
  const pos = { file, line: lexer.nameLine, column: lexer.nameColumn };
  return { name: lexer.name as string, args: lexer.args, pos, endLine: lexer.line, places: lexer.places, placesAt: lexer.placesAt };
}

/**
 * Lines of words without quotes, escapes and blocks, such as those of a large `map` or `geo`. They are kept as the text that they are:
 * as trees of objects a hundred thousand would cost tens of megabytes, and most of the time that it takes to read them.
 */
export class SimpleLines {
  /** Where the lines end, behind the `}` if it is a block. */
  readonly end: TextPlace;
  readonly #text: string;
  readonly #file: string;
  readonly #from: TextPlace;

  private constructor(text: string, file: string, from: TextPlace, end: TextPlace) {
    this.#text = text;
    this.#file = file;
    this.#from = from;
    this.end = end;
  }

  /** The lines of a block whose `{` ends at `from`; undefined where any of them is not plain, or wrong. */
  static ofBlock(text: string, file: string, from: TextPlace): SimpleLines | undefined {
    const end = endOf(text, from);
    return end === undefined || end.at > text.length ? undefined : new SimpleLines(text, file, from, end);
  }

  /** The lines of a whole file; undefined where any of them is not plain, or wrong. */
  static ofFile(text: string, file: string): SimpleLines | undefined {
    const from = { at: 0, line: 1, lineStart: 0 };
    const end = endOf(text, from);
    return end === undefined || end.at <= text.length ? undefined : new SimpleLines(text, file, from, end);
  }

  /** The lines as nodes, as the parser would have made them. */
  nodes(): Node[] {
    const lexer = new Lexer(this.#text, true, this.#from);
    const nodes: Node[] = [];
    while (lexer.next() === End.SEMICOLON) {
      nodes.push(directiveOf(lexer, this.#file));
    }
    return nodes;
  }

  /** The line that begins at a place, as the parser would have made it. */
  nodeAt(place: TextPlace): DirectiveNode {
    const lexer = new Lexer(this.#text, true, place);
    lexer.next();
    return directiveOf(lexer, this.#file);
  }

  /** Gives each line to a function, in the order of the text. Their words are checked by now: this only finds them. */
  each(use: (line: DirectiveNode) => void): void {
    const text = this.#text;
    const end = Math.min(this.end.at, text.length);
    let { at, line, lineStart } = this.#from;
    let begun = this.#from;
    let name: string | undefined;
    let args: string[] = [];
    while (at < end) {
      if (name === undefined) {
        usual.lastIndex = at;
        const match = usual.exec(text);
        if (match !== null) {
          const before = match[1]!;
          for (let i = before.indexOf('\n'); i >= 0; i = before.indexOf('\n', i + 1)) {
            line++;
            lineStart = at + i + 1;
          }
          const begins = at + before.length;
          at = usual.lastIndex;
          use(new LineNode(match[2]!, [match[3]!], line, this, { at: begins, line, lineStart }));
          continue;
        }
      }
      const ch = text.charCodeAt(at);
      if (ch === lf) {
        line++;
        lineStart = ++at;
      } else if (ch === space || ch === tab || ch === cr) {
        at++;
      } else if (ch === sharp) {
        at = lineEnd(text, at);
      } else if (ch === closingBrace) {
        return;
      } else if (ch === semicolon) {
        at++;
        use(new LineNode(name!, args, line, this, begun));
        name = undefined;
        args = [];
      } else {
        const begins = at;
        at = wordEnd(text, at);
        if (name === undefined) {
          name = text.slice(begins, at);
          begun = { at: begins, line, lineStart };
        } else {
          args.push(text.slice(begins, at));
        }
      }
    }
  }
}

/** A line that finds out where it stands only when it is asked, as messages do. */
class LineNode implements DirectiveNode {
  readonly name: string;
  readonly args: readonly string[];
  readonly endLine: number;
  readonly #lines: SimpleLines;
  readonly #begun: TextPlace;

  constructor(name: string, args: readonly string[], endLine: number, lines: SimpleLines, begun: TextPlace) {
    this.name = name;
    this.args = args;
    this.endLine = endLine;
    this.#lines = lines;
    this.#begun = begun;
  }

  get pos(): Pos {
    return this.#lines.nodeAt(this.#begun).pos;
  }

  get places(): readonly number[] {
    return this.#lines.nodeAt(this.#begun).places;
  }

  get placesAt(): number {
    return 0;
  }
}

/** A directive whose block consists of plain lines. */
export class LinesDirective implements DirectiveNode {
  readonly name: string;
  readonly args: readonly string[];
  readonly pos: Pos;
  readonly endLine: number;
  readonly closeLine: number;
  readonly places: readonly number[];
  readonly placesAt: number;
  readonly lines: SimpleLines;
  #block: readonly Node[] | undefined;

  constructor(opened: DirectiveNode, lines: SimpleLines) {
    this.name = opened.name;
    this.args = opened.args;
    this.pos = opened.pos;
    this.endLine = opened.endLine;
    this.closeLine = lines.end.line;
    this.places = opened.places;
    this.placesAt = opened.placesAt;
    this.lines = lines;
  }

  /** Made when it is first asked for: tools ask, servers do not. */
  get block(): readonly Node[] {
    this.#block ??= this.lines.nodes();
    return this.#block;
  }
}

/** The place behind plain lines: behind the `}` that ends them, or one past the end of the text. Undefined where they are none. */
function endOf(text: string, from: TextPlace): TextPlace | undefined {
  const close = closeOf(text, from.at);
  if (close < 0) {
    return undefined;
  }
  // No word may be left over at the end, and no line without one.
  gap.lastIndex = Math.max(text.lastIndexOf(';', close - 1) + 1, from.at);
  gap.test(text);
  const rest = gap.lastIndex;
  gap.lastIndex = from.at;
  gap.test(text);
  if (rest !== close || text.charCodeAt(gap.lastIndex) === semicolon) {
    return undefined;
  }
  emptyLine.lastIndex = from.at;
  const empty = emptyLine.exec(text);
  if (empty !== null && empty.index < close) {
    return undefined;
  }
  let { line, lineStart } = from;
  for (let at = text.indexOf('\n', from.at); ; at = text.indexOf('\n', lineStart)) {
    const lineEnd = at < 0 || at > close ? close : at;
    if (lineEnd - lineStart > LONG) {
      return undefined;
    }
    if (lineEnd === close) {
      return { at: close + 1, line, lineStart };
    }
    line++;
    lineStart = at + 1;
  }
}

/** What may stand between two lines; it always matches. */
const gap = /(?:[ \t\r\n]|#[^\n]*(?:\n|$))*/y;
const emptyLine = /;(?:[ \t\r\n]|#[^\n]*\n)*;/g;
const special = /[\\{}"'#]/g;
const wordBreak = /[ \t\r\n;{]/;

/** Where the first `}` is that is no part of a word, or the end of the text; -1 if quotes, escapes or blocks come first. */
function closeOf(text: string, from: number): number {
  special.lastIndex = from;
  for (let found = special.exec(text); found !== null; found = special.exec(text)) {
    const at = found.index;
    const ch = text.charCodeAt(at);
    if (ch === backslash || ch === openingBrace) {
      return -1;
    }
    if (at > 0 && !wordBreak.test(text.charAt(at - 1))) {
      continue;
    }
    if (ch === closingBrace) {
      return at;
    }
    if (ch !== sharp) {
      return -1;
    }
    special.lastIndex = lineEnd(text, at);
  }
  return text.length;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

function wordEnd(text: string, from: number): number {
  word.lastIndex = from;
  word.test(text);
  return word.lastIndex;
}

const word = /[^ \t\r\n;]+/y;
/** The white space before a line of two words, and these. */
const usual = /([ \t\r\n]*)([^ \t\r\n;#}][^ \t\r\n;]*)[ \t]+([^ \t\r\n;#}][^ \t\r\n;]*);/y;
