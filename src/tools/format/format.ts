import { type RawToken, rawTokens } from '../../shared/config/language/raw-tokens.js';

const INDENT = 4;
/** Blocks of entries, which are read as tables: their second words stand in a column. */
const TABLES = new Set(['types', 'map', 'geo', 'split_clients', 'charset_map']);
/** Directives that give names values. Where they follow each other their values stand in a column. */
const NAMED_VALUES = /^(?:set|add_header|add_trailer|\w+_param|\w+_set_header)$/;
/** What is wider than this does not move the column of the others. */
const WIDEST_KEY = 72;
/** A block of one directive that stands on one line stays there, if the line is no longer than this. */
const LONGEST_LINE = 120;

/** A line of the result: its words, and what decides how it is laid out. */
interface Line {
  readonly depth: number;
  text: string;
  /** What the line is an entry of: `{` for a table, else the directive's name; empty for other lines. */
  readonly table: string;
  /** Width of what stands before the column. */
  readonly key: number;
  /** An empty line stands before it. */
  readonly apart: boolean;
  /** The line ends in a comment. */
  commented: boolean;
}

/**
 * Lays configuration text out in one style: a directive a line, four columns of white space a level, at most one empty line in a row, the
 * entries of tables such as `map`, and values of neighbours such as
 * `proxy_set_header`, in columns. Words, comments and line breaks inside a directive stay as they are. The text must have
 * passed the parser. Formatting a formatted text changes nothing.
 */
export function formatConfig(text: string): string {
  const layout = new Layout();
  for (const token of rawTokens(text)) {
    layout.add(token);
  }
  return layout.text();
}

interface OpenBlock {
  readonly table: boolean;
  /** The line of the result that the block's `{` ends. */
  readonly opening: number;
  /** All of it, so far, stands on one line of the text. */
  onOneLine: boolean;
}

class Layout {
  readonly #lines: Line[] = [];
  readonly #blocks: OpenBlock[] = [];
  /** The directive that is being read: its words and the line breaks and comments between them. */
  #directive = '';
  #name = '';
  #table = '';
  #keyWidth = 0;
  #words = 0;
  #apart = false;
  /** The directive ends in a comment, which only a line feed ends. */
  #commented = false;
  /** The line that a comment may follow. */
  #last: Line | undefined;
  /** Where the word before ended in the text. */
  #wordEnd = -1;
  /** Nothing stands in the present block. */
  #first = true;

  add(token: RawToken): void {
    const block = this.#blocks.at(-1);
    if (block !== undefined && (token.lineFeeds > 0 || token.kind === 'comment')) {
      block.onOneLine = false;
    }
    switch (token.kind) {
      case 'comment':
        this.#comment(token);
        return;
      case 'word':
        this.#word(token);
        return;
      case ';':
        this.#end(';');
        return;
      case '{': {
        const table = TABLES.has(this.#name);
        this.#end(' {');
        this.#blocks.push({ table, opening: this.#lines.length - 1, onOneLine: true });
        this.#first = true;
        return;
      }
      case '}':
        this.#close();
    }
  }

  text(): string {
    alignTables(this.#lines);
    let text = '';
    for (const { depth, text: line, apart } of this.#lines) {
      text += `${apart ? '\n' : ''}${' '.repeat(depth * INDENT)}${line}\n`;
    }
    return text;
  }

  #comment({ text, lineFeeds }: RawToken): void {
    const comment = text.trimEnd();
    if (this.#directive !== '') {
      this.#directive += `${lineFeeds > 0 ? this.#nextLine() : ' '}${comment}`;
      this.#commented = true;
    } else if (lineFeeds === 0 && this.#last !== undefined) {
      this.#last.text += ` ${comment}`;
      this.#last.commented = true;
      this.#last = undefined;
    } else {
      this.#push(comment, '', lineFeeds > 1);
      this.#last = undefined;
    }
  }

  #word({ text, start, lineFeeds }: RawToken): void {
    // As `)` behind a quoted word.
    const joined = start === this.#wordEnd;
    this.#wordEnd = start + text.length;
    if (this.#directive === '') {
      this.#directive = text;
      this.#name = text;
      this.#apart = lineFeeds > 1;
      this.#words = 1;
      this.#table = '';
      this.#keyWidth = 0;
      return;
    }
    const breaks = lineFeeds > 0 || this.#commented;
    const table = this.#blocks.at(-1)?.table === true ? '{' : NAMED_VALUES.test(this.#name) ? this.#name : '';
    if (table !== '' && !breaks && this.#words === (table === '{' ? 1 : 2) && !this.#directive.includes('\n')) {
      this.#table = table;
      this.#keyWidth = this.#directive.length;
    }
    this.#words++;
    this.#directive += `${joined ? '' : breaks ? this.#nextLine() : ' '}${text}`;
    this.#commented = false;
  }

  /** A directive's further lines stand one level below it. */
  #nextLine(): string {
    return `\n${' '.repeat((this.#blocks.length + 1) * INDENT)}`;
  }

  #end(mark: ';' | ' {'): void {
    const text = this.#commented
      ? `${this.#directive}\n${' '.repeat(this.#blocks.length * INDENT)}${mark.trim()}`
      : `${this.#directive}${mark}`;
    this.#last = this.#push(text, mark === ';' ? this.#table : '', this.#apart);
    this.#directive = '';
    this.#name = '';
    this.#commented = false;
  }

  #close(): void {
    const { opening, onOneLine } = this.#blocks.pop()!;
    const opened = this.#lines[opening]!;
    const inside = this.#lines.length - 1 - opening;
    const joined = inside === 0 ? `${opened.text}}` : `${opened.text} ${this.#lines[opening + 1]?.text} }`;
    const fits = inside === 1 && onOneLine && joined.length + this.#blocks.length * INDENT <= LONGEST_LINE;
    this.#first = false;
    if ((inside === 0 && !opened.commented) || fits) {
      this.#lines.length = opening + 1;
      opened.text = joined;
      this.#last = opened;
      return;
    }
    this.#last = this.#push('}', '', false);
  }

  #push(text: string, table: string, apart: boolean): Line {
    const line = { depth: this.#blocks.length, text, table, key: this.#keyWidth, apart: apart && !this.#first, commented: false };
    this.#lines.push(line);
    this.#first = false;
    return line;
  }
}

/** Puts the values of neighbouring entries into one column. Empty lines and other lines end a neighbourhood. */
function alignTables(lines: readonly Line[]): void {
  let from = 0;
  for (let i = 1; i <= lines.length; i++) {
    const line = lines[i];
    const first = lines[from]!;
    if (line === undefined || line.apart || line.table !== first.table || line.depth !== first.depth) {
      if (first.table !== '') {
        alignEntries(lines.slice(from, i));
      }
      from = i;
    }
  }
}

function alignEntries(entries: readonly Line[]): void {
  const column = Math.max(0, ...entries.map(({ key }) => (key <= WIDEST_KEY ? key : 0)));
  for (const line of entries) {
    if (line.key < column) {
      line.text = line.text.slice(0, line.key) + ' '.repeat(column - line.key) + line.text.slice(line.key);
    }
  }
}
