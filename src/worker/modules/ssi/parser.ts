import { ERROR } from '../../../shared/log/level.js';
import { EMPTY } from '../../bytes/empty.js';
import type { Request } from '../../http/request/request.js';

/** What {@link Parser.next} came to. */
export const MORE = 0;
export const COMMAND = 1;
export const BROKEN = 2;

/** What a command begins with; the start of it may be the end of a piece of the body. */
const OPENING = Buffer.from('<!--');

const MAX_COMMAND = 32;
const MAX_PARAM = 32;

// The states up to SHARP are the number of characters of OPENING that were seen.
const TEXT = 0;
const SHARP = 4;
const BEFORE_COMMAND = 5;
const IN_COMMAND = 6;
const BEFORE_PARAM = 7;
const IN_PARAM = 8;
const BEFORE_EQUAL = 9;
const BEFORE_VALUE = 10;
const IN_VALUE = 11;
const AFTER_BACKSLASH = 12;
const AFTER_VALUE = 13;
const FIRST_DASH = 14;
const SECOND_DASH = 15;
const ERROR_TEXT = 16;
const ERROR_DASH = 17;
const ERROR_DASHES = 18;

const LT = 0x3c;
const GT = 0x3e;
const DASH = 0x2d;
const EQUAL = 0x3d;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const BACKSLASH = 0x5c;

const isSpace = (c: number): boolean => c === 0x20 || c === 0x0d || c === 0x0a || c === 0x09;

/**
 * Finds commands in a body that comes in pieces. The body's text between them goes to `text`. A `<!--` that is cut short
 * by the end of the body is lost, as in nginx. nginx: ngx_http_ssi_parse.
 */
export class Parser {
  readonly #valueLength: number;
  readonly #text: (piece: Buffer) => void;
  #chunk: Buffer = EMPTY;
  #at = 0;
  #state = TEXT;
  /** How many bytes of the current opening came with earlier pieces. */
  #carried = 0;
  #quote = 0;
  #key = '';
  #value = '';
  #broken = false;

  /** The command that was found, with its parameters, name and value by turns. */
  command = '';
  params: string[] = [];

  /** `valueLength` is the longest value of a parameter, in bytes. */
  constructor(valueLength: number, text: (piece: Buffer) => void) {
    this.#valueLength = valueLength;
    this.#text = text;
  }

  feed(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  /** Goes on to the end of the next command (COMMAND), of a malformed one (BROKEN), or of the piece (MORE). */
  next(r: Request): number {
    if (this.#state <= SHARP && !this.#findOpening()) {
      return MORE;
    }
    const chunk = this.#chunk;
    while (this.#at < chunk.length) {
      const c = chunk[this.#at++]!;
      this.#take(r, c);
      if (this.#state === TEXT) {
        return this.#broken ? BROKEN : COMMAND;
      }
    }
    return MORE;
  }

  /** Passes text on until a command's opening is complete; false when the piece ends before. */
  #findOpening(): boolean {
    const chunk = this.#chunk;
    let start = this.#at;
    let opening = this.#at;
    let state = this.#state;
    let p = this.#at;
    for (; p < chunk.length; p++) {
      if (state === TEXT) {
        p = chunk.indexOf(LT, p);
        if (p === -1) {
          break;
        }
        opening = p;
        state = 1;
        continue;
      }
      const c = chunk[p]!;
      if (state === SHARP && c === 0x23) {
        if (this.#carried === 0 && opening > start) {
          this.#text(chunk.subarray(start, opening));
        }
        this.#carried = 0;
        this.#at = p + 1;
        this.#state = BEFORE_COMMAND;
        this.#broken = false;
        return true;
      }
      if (state < SHARP && c === OPENING[state]) {
        state++;
        continue;
      }
      if (this.#carried > 0) {
        this.#text(OPENING.subarray(0, this.#carried));
        this.#carried = 0;
        start = 0;
      }
      opening = p;
      state = c === LT ? 1 : TEXT;
    }
    this.#at = chunk.length;
    if (state === TEXT) {
      if (start < chunk.length) {
        this.#text(chunk.subarray(start));
      }
    } else {
      if (this.#carried === 0 && opening > start) {
        this.#text(chunk.subarray(start, opening));
      }
      this.#carried = state;
    }
    this.#state = state;
    return false;
  }

  #take(r: Request, c: number): void {
    switch (this.#state) {
      case BEFORE_COMMAND:
        if (isSpace(c)) {
          return;
        }
        this.command = String.fromCharCode(c);
        this.params = [];
        this.#state = IN_COMMAND;
        return;
      case IN_COMMAND:
        if (isSpace(c)) {
          this.#state = BEFORE_PARAM;
        } else if (c === DASH) {
          this.#state = FIRST_DASH;
        } else if (this.command.length === MAX_COMMAND) {
          this.#fail(r, `the "${this.command}${String.fromCharCode(c)}..." SSI command is too long`, ERROR_TEXT);
        } else {
          this.command += String.fromCharCode(c);
        }
        return;
      case BEFORE_PARAM:
        if (isSpace(c)) {
          return;
        }
        if (c === DASH) {
          this.#state = FIRST_DASH;
          return;
        }
        this.#key = String.fromCharCode(c);
        this.#value = '';
        this.#state = IN_PARAM;
        return;
      case IN_PARAM:
        this.#takeName(r, c);
        return;
      case BEFORE_EQUAL:
        if (isSpace(c)) {
          return;
        }
        if (c === EQUAL) {
          this.#state = BEFORE_VALUE;
        } else {
          this.#unexpected(r, c, `after "${this.#key}" parameter`);
        }
        return;
      case BEFORE_VALUE:
        if (isSpace(c)) {
          return;
        }
        this.#quote = c;
        if (c === DOUBLE_QUOTE || c === SINGLE_QUOTE) {
          this.#state = IN_VALUE;
        } else {
          this.#unexpected(r, c, `before value of "${this.#key}" parameter`);
        }
        return;
      case IN_VALUE:
        if (c === this.#quote) {
          this.params.push(this.#key, this.#value);
          this.#state = AFTER_VALUE;
          return;
        }
        if (c === BACKSLASH) {
          this.#state = AFTER_BACKSLASH;
        }
        this.#addToValue(r, c);
        return;
      case AFTER_BACKSLASH:
        this.#state = IN_VALUE;
        this.#addToValue(r, c);
        return;
      default:
        this.#takeEnd(r, c);
    }
  }

  #takeName(r: Request, c: number): void {
    if (isSpace(c)) {
      this.#state = BEFORE_EQUAL;
    } else if (c === EQUAL) {
      this.#state = BEFORE_VALUE;
    } else if (c === DASH) {
      this.#unexpected(r, c, `after "${this.#key}" parameter`);
    } else if (this.#key.length === MAX_PARAM) {
      this.#fail(r, `too long "${this.#key}${String.fromCharCode(c)}..." parameter in "${this.command}" SSI command`, ERROR_TEXT);
    } else {
      this.#key += String.fromCharCode(c);
    }
  }

  #addToValue(r: Request, c: number): void {
    if (this.#value.length === this.#valueLength) {
      const value = `${this.#value}${String.fromCharCode(c)}...`;
      this.#fail(r, `too long "${value}" value of "${this.#key}" parameter in "${this.command}" SSI command`, ERROR_TEXT);
    } else {
      this.#value += String.fromCharCode(c);
    }
  }

  #takeEnd(r: Request, c: number): void {
    switch (this.#state) {
      case AFTER_VALUE:
        if (isSpace(c)) {
          this.#state = BEFORE_PARAM;
        } else if (c === DASH) {
          this.#state = FIRST_DASH;
        } else {
          const what = `after "${this.#value}" value of "${this.#key}" parameter`;
          this.#fail(r, `unexpected "${String.fromCharCode(c)}" symbol ${what} in "${this.command}" SSI command`, ERROR_TEXT);
        }
        return;
      case FIRST_DASH:
      case SECOND_DASH:
        if (c === (this.#state === FIRST_DASH ? DASH : GT)) {
          this.#state = this.#state === FIRST_DASH ? SECOND_DASH : TEXT;
        } else {
          this.#fail(r, `unexpected "${String.fromCharCode(c)}" symbol in "${this.command}" SSI command`, ERROR_TEXT);
        }
        return;
      case ERROR_TEXT:
        if (c === DASH) {
          this.#state = ERROR_DASH;
        }
        return;
      case ERROR_DASH:
        this.#state = c === DASH ? ERROR_DASHES : ERROR_TEXT;
        return;
      default:
        this.#state = c === GT ? TEXT : ERROR_TEXT;
    }
  }

  #unexpected(r: Request, c: number, where: string): void {
    const text = `unexpected "${String.fromCharCode(c)}" symbol ${where} in "${this.command}" SSI command`;
    this.#fail(r, text, c === DASH ? ERROR_DASH : ERROR_TEXT);
  }

  #fail(r: Request, message: string, state: number): void {
    r.log(ERROR, message);
    this.#broken = true;
    this.#state = state;
  }
}
