/** nginx keeps at most this much of a file in memory, so no word and no comment may be longer. nginx: NGX_CONF_BUFFER */
const bufferSize = 4096;

const tab = 9;
const lf = 10;
const cr = 13;
const space = 32;
const doubleQuote = 34;
const sharp = 35;
const dollar = 36;
const singleQuote = 39;
const closingParenthesis = 41;
const semicolon = 59;
const backslash = 92;
const openingBrace = 123;
const closingBrace = 125;

const none: readonly never[] = [];

/** Entries of `map` and the like have first words too, each its own. */
const MANY_NAMES = 1000;

/** What a run of words ended in. */
export const End = { SEMICOLON: 0, OPENING_BRACE: 1, CLOSING_BRACE: 2, TEXT: 3, ERROR: 4 } as const;
export type End = (typeof End)[keyof typeof End];

/** A place between two characters: how many come before it, the line it is on, and where that line starts. */
export interface TextPlace {
  readonly at: number;
  readonly line: number;
  readonly lineStart: number;
}

/**
 * Splits configuration text into runs of words, each ended by `;`, `{`, `}` or the end of the text.
 * A run's results stand in the public fields until the next call. nginx: ngx_conf_read_token
 */
export class Lexer {
  /** The first word of the last run, without quotes and escapes; undefined if the run has no words. */
  name: string | undefined;
  /** Where the first word starts (at its quote, if it has one). */
  nameLine = 0;
  nameColumn = 0;
  /** The line the lexer stands on: that of the character which ended the last run. */
  line = 1;
  /** Message, line and column of the error when `next` returned End.ERROR. */
  error = '';
  errorLine = 0;
  errorColumn = 0;
  /** Where the quote starts that the error is in or behind, when its end may be missing; the line is 0 for other errors. */
  quoteLine = 0;
  quoteColumn = 0;
  /** Where each word after a first one starts, of all runs: line and column by turns. */
  readonly places: number[] = [];

  readonly #text: string;
  readonly #isFile: boolean;
  #at = 0;
  #lineStart = 0;
  // Filled again by each run: arrays that grow leave room for sixteen more, in each of perhaps a hundred thousand directives.
  readonly #args: string[] = [];
  #count = 0;
  readonly #names = new Map<string, string>();

  /** @param isFile false for the text of `-g`, which nginx reads without a buffer and whose end it words differently. */
  constructor(text: string, isFile: boolean, from?: TextPlace) {
    this.#text = text;
    this.#isFile = isFile;
    if (from !== undefined) {
      this.place = from;
    }
  }

  /** Where the next run begins. */
  get place(): TextPlace {
    return { at: this.#at, line: this.line, lineStart: this.#lineStart };
  }

  set place({ at, line, lineStart }: TextPlace) {
    this.#at = at;
    this.line = line;
    this.#lineStart = lineStart;
  }

  /** The words after the first of the last run. */
  get args(): readonly string[] {
    return this.#count === 0 ? none : this.#args.slice(0, this.#count);
  }

  /** Where in {@link places} those of the last run's words begin. */
  get placesAt(): number {
    return this.places.length - this.#count * 2;
  }

  /** The column of the character that ended the last run. */
  get column(): number {
    return this.#at - this.#lineStart;
  }

  /** Reads up to the next `;`, `{`, `}` or the end of the text. */
  next(): End {
    const text = this.#text;
    this.name = undefined;
    this.#count = 0;
    for (;;) {
      const start = this.#at;
      if (start >= text.length) {
        return this.name !== undefined ? this.#unexpectedEnd() : End.TEXT;
      }
      const ch = text.charCodeAt(start);
      switch (ch) {
        case lf:
          this.#at++;
          this.#newLine();
          continue;
        case space:
        case tab:
        case cr:
          this.#at++;
          continue;
        case semicolon:
        case openingBrace:
          this.#at++;
          if (this.name === undefined) {
            return this.#fail(`unexpected "${text.charAt(start)}"`, this.line, this.column);
          }
          return ch === semicolon ? End.SEMICOLON : End.OPENING_BRACE;
        case closingBrace:
          this.#at++;
          return this.name !== undefined ? this.#fail('unexpected "}"', this.line, this.column) : End.CLOSING_BRACE;
        case sharp:
          if (!this.#comment(start)) {
            return End.ERROR;
          }
          continue;
      }
      const end = ch === doubleQuote || ch === singleQuote ? this.#quotedWord(ch) : this.#plainWord();
      if (end !== undefined) {
        return end;
      }
    }
  }

  /** Skips a comment up to its line feed. False if it does not fit nginx's buffer. */
  #comment(start: number): boolean {
    const found = this.#text.indexOf('\n', start);
    const end = found < 0 ? this.#text.length : found;
    if (this.#outgrown(start, found < 0 ? end - 1 : end)) {
      this.#tooLong(start, this.line, start - this.#lineStart + 1);
      return false;
    }
    this.#at = end;
    return true;
  }

  /** Reads a word without quotes. Returns how the run ended, or undefined if it goes on. */
  #plainWord(): End | undefined {
    const text = this.#text;
    const start = this.#at;
    const line = this.line;
    const column = start - this.#lineStart + 1;
    let escaped = false;
    let variable = false;
    let i = start;
    for (; i < text.length; i++) {
      const ch = text.charCodeAt(i);
      if (ch > closingBrace) {
        variable = false;
        continue;
      }
      if (ch === openingBrace && variable) {
        continue;
      }
      variable = ch === dollar;
      if (ch === backslash) {
        escaped = true;
        i++;
        if (text.charCodeAt(i) === lf) {
          this.#newLineAt(i);
        }
      } else if (ch === space || ch === semicolon || ch === lf || ch === openingBrace || ch === tab || ch === cr) {
        // The first character of a word is never one of these: the caller has dealt with them.
        break;
      }
    }
    if (i >= text.length) {
      this.#at = text.length;
      return this.#outgrown(start, text.length - 1) ? this.#tooLong(start, line, column) : this.#unexpectedEnd();
    }
    const ch = text.charCodeAt(i);
    const endsRun = ch === semicolon || ch === openingBrace;
    // After white space nginx looks at one more character before it lets go of the word.
    if (this.#outgrown(start, endsRun ? i : i + 1)) {
      return this.#tooLong(start, line, column);
    }
    this.#push(start, i, escaped, line, column);
    this.#at = i + 1;
    if (ch === lf) {
      this.#newLine();
    }
    if (!endsRun) {
      return undefined;
    }
    return ch === semicolon ? End.SEMICOLON : End.OPENING_BRACE;
  }

  /** Reads a quoted word and checks what follows it. Returns how the run ended, or undefined if it goes on. */
  #quotedWord(quote: number): End | undefined {
    const text = this.#text;
    const start = this.#at + 1;
    const line = this.line;
    const column = start - this.#lineStart;
    let escaped = false;
    let i = start;
    for (; i < text.length; i++) {
      const ch = text.charCodeAt(i);
      if (ch === quote) {
        break;
      }
      if (ch === backslash) {
        escaped = true;
        i++;
      }
      if (ch === lf || (ch === backslash && text.charCodeAt(i) === lf)) {
        this.#newLineAt(i);
      }
    }
    if (this.#outgrown(start, Math.min(i, text.length - 1))) {
      const character = String.fromCharCode(quote);
      return this.#fail(`too long parameter, probably missing terminating "${character}" character`, line, column);
    }
    this.#at = Math.min(i + 1, text.length);
    if (i >= text.length) {
      this.#quoteAt(line, column);
      return this.#unexpectedEnd();
    }
    this.#push(start, i, escaped, line, column);

    const after = i + 1;
    if (after >= text.length) {
      return this.#unexpectedEnd();
    }
    const ch = text.charCodeAt(after);
    const isSpace = ch === space || ch === lf || ch === tab || ch === cr;
    if (this.#outgrown(start, isSpace ? after + 1 : after)) {
      return this.#tooLong(start, line, column);
    }
    if (isSpace || ch === closingParenthesis) {
      return undefined;
    }
    this.#at = after + 1;
    if (ch === semicolon || ch === openingBrace) {
      return ch === semicolon ? End.SEMICOLON : End.OPENING_BRACE;
    }
    if (this.line > line) {
      this.#quoteAt(line, column);
    }
    return this.#fail(`unexpected "${text.charAt(after)}"`, this.line, this.column);
  }

  #quoteAt(line: number, column: number): void {
    this.quoteLine = line;
    this.quoteColumn = column;
  }

  #push(start: number, end: number, escaped: boolean, line: number, column: number): void {
    const slice = this.#text.slice(start, end);
    const word = escaped ? withoutEscapes(slice) : slice;
    if (this.name === undefined) {
      this.name = this.#sameName(word);
      this.nameLine = line;
      this.nameColumn = column;
    } else {
      this.#args[this.#count] = word;
      this.places.push(line, column);
      this.#count++;
    }
  }

  /** One string for all words of this text: a hundred thousand directives have a few dozen names, and each is looked up. */
  #sameName(word: string): string {
    const known = this.#names.get(word);
    if (known !== undefined) {
      return known;
    }
    if (this.#names.size < MANY_NAMES) {
      this.#names.set(word, word);
    }
    return word;
  }

  /** Whether nginx's buffer is full before it can read the character at `last` while it still holds what begins at `start`. */
  #outgrown(start: number, last: number): boolean {
    return this.#isFile && start + bufferSize <= last && start + bufferSize < this.#text.length;
  }

  #newLine(): void {
    this.line++;
    this.#lineStart = this.#at;
  }

  #newLineAt(index: number): void {
    this.line++;
    this.#lineStart = index + 1;
  }

  #unexpectedEnd(): End {
    const message = this.#isFile ? 'unexpected end of file, expecting ";" or "}"' : 'unexpected end of parameter, expecting ";"';
    return this.#fail(message, this.line, this.#text.length - this.#lineStart + 1);
  }

  #tooLong(start: number, line: number, column: number): End {
    return this.#fail(`too long parameter "${this.#text.slice(start, start + 10)}..." started`, line, column);
  }

  #fail(message: string, line: number, column: number): End {
    this.error = message;
    this.errorLine = line;
    this.errorColumn = column;
    return End.ERROR;
  }
}

/** Takes the escapes off a word: `\"`, `\'`, `\\`, `\t`, `\r`, `\n`; any other backslash stays. */
function withoutEscapes(word: string): string {
  let result = '';
  let from = 0;
  for (let at = word.indexOf('\\'); at >= 0; at = word.indexOf('\\', at)) {
    const replacement = replacementOf(word.charAt(at + 1));
    if (replacement === undefined) {
      at++;
      continue;
    }
    result += word.slice(from, at) + replacement;
    at += 2;
    from = at;
  }
  return result + word.slice(from);
}

function replacementOf(ch: string): string | undefined {
  switch (ch) {
    case '"':
    case "'":
    case '\\':
      return ch;
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'n':
      return '\n';
  }
  return undefined;
}
