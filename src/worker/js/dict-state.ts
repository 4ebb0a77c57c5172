import { existsSync, readFileSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { errnoText } from '../../shared/system/errno.js';
import { nativeText } from '../../shared/text/native-text.js';

// The files that keep dictionaries over restarts, in njs's form: `{"key":{"value":5,"expire":1700000000000}}`.

/** What an entry holds. */
export type DictValue = string | number;

/** An entry as the file has it; `expire`: when it ends, in milliseconds since 1970, 0 for what the zone says. */
export interface StateEntry {
  readonly key: string;
  readonly value: DictValue;
  readonly expire: number;
}

/** What is wrong with a file, and where: nginx's words. */
class StateFormatError extends Error {}

const NUMBER = /[+-]?(?:infinity|inf|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/iy;
const SPACE = /[ \t\r\n]*/y;
const ESCAPES = '"\\/nrtbf';
const HEX = /[0-9a-f]{4}/iy;

/** Reads a file; `text` has one character for each byte. @throws StateFormatError. nginx: ngx_js_dict_parse_state. */
function readDictState(text: string, type: 'string' | 'number'): StateEntry[] {
  return text === '' ? [] : new Reader(text, type).entries();
}

/** What the file says of entries; `expires` is null for those that do not end. nginx: ngx_js_dict_render_json. */
export function dictStateText(entries: Iterable<readonly [key: string, value: DictValue, expires: number | null]>): string {
  const lines: string[] = [];
  for (const [key, value, expires] of entries) {
    // JSON has no word for what no number is greater than, but reads one.
    const shown = typeof value === 'number' && !Number.isFinite(value) ? (value > 0 ? '1e999' : '-1e999') : JSON.stringify(value);
    lines.push(`${JSON.stringify(key)}:{"value":${shown}${expires === null ? '' : `,"expire":${Math.round(expires)}`}}`);
  }
  return `{${lines.join(',')}}\n`;
}

/**
 * What the file of a dictionary's state has; nothing where there is no file.
 * @throws StateFormatError with nginx's message for what it cannot be, or the system's error
 */
export function stateEntries(name: string, file: string, type: 'string' | 'number'): readonly StateEntry[] {
  if (!existsSync(fsPath(file))) {
    return [];
  }
  try {
    return readDictState(readFileSync(fsPath(file), 'latin1'), type);
  } catch (error) {
    throw error instanceof StateFormatError
      ? new StateFormatError(`invalid format while loading js_shared_dict_zone "${name}" from state file "${file}": ${error.message}`)
      : error;
  }
}

/** What is wrong with a file of a state, in one line. */
export const stateProblem = (error: unknown): string =>
  error instanceof StateFormatError ? error.message : `open() failed (${errnoText(error)})`;

class Reader {
  readonly #text: string;
  readonly #type: 'string' | 'number';
  #at = 0;

  constructor(text: string, type: 'string' | 'number') {
    this.#text = text;
    this.#type = type;
  }

  entries(): StateEntry[] {
    const found: StateEntry[] = [];
    this.#space('empty json');
    this.#expect('{', "json must start with '{'");
    for (;;) {
      this.#space('unexpected end of json');
      if (this.#take('}')) {
        break;
      }
      const key = this.#string();
      this.#colon();
      found.push({ key, ...this.#entry() });
      this.#space('unexpected end of json');
      // As in njs, it need not be there, and may be there once too often.
      this.#take(',');
    }
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.#text);
    this.#at = SPACE.lastIndex;
    return this.#at === this.#text.length ? found : this.#fail('unexpected character, expected end of json');
  }

  #entry(): { readonly value: DictValue; readonly expire: number } {
    let value: DictValue | undefined;
    let expire = 0;
    this.#expect('{', "unexpected character, expected '{'");
    for (;;) {
      this.#space('unexpected end of json');
      const end = this.#at;
      if (this.#take('}')) {
        return value === undefined ? this.#fail('missing value', end) : { value, expire };
      }
      const name = this.#string();
      this.#colon();
      const given = this.#text[this.#at] === '"' ? this.#string() : this.#number();
      if (name === 'value') {
        if (typeof given !== this.#type) {
          // The words are njs's, which names what it found.
          this.#fail(`expected ${typeof given} value`);
        }
        value = given;
      } else if (name === 'expire' && typeof given === 'number') {
        expire = given;
      }
      this.#space('unexpected end of json');
      this.#take(',');
    }
  }

  #string(): string {
    this.#expect('"', "unexpected character, expected '\"'", this.#at);
    const start = this.#at;
    let escaped = false;
    for (; this.#text[this.#at] !== '"'; this.#at++) {
      if (this.#at >= this.#text.length) {
        this.#fail('unexpected end of input');
      }
      if (this.#text.charCodeAt(this.#at) < 0x20) {
        this.#fail('Invalid source char');
      }
      if (this.#text[this.#at] === '\\') {
        escaped = true;
        this.#escape();
      }
    }
    const text = nativeText(this.#text.slice(start, this.#at++));
    return escaped ? (JSON.parse(`"${text}"`) as string).replace(/\p{Surrogate}/gu, '\ufffd') : text;
  }

  /** Goes to the last character of what a backslash begins. */
  #escape(): void {
    const kind = this.#text[++this.#at];
    if (kind === 'u') {
      HEX.lastIndex = this.#at + 1;
      if (!HEX.test(this.#text)) {
        this.#fail('Invalid Unicode escape sequence');
      }
      this.#at += 4;
    } else if (kind === undefined || !ESCAPES.includes(kind)) {
      this.#fail(kind === undefined ? 'unexpected end of input' : 'Invalid escape char');
    }
  }

  #number(): number {
    NUMBER.lastIndex = this.#at;
    const found = NUMBER.exec(this.#text)?.[0];
    if (found === undefined) {
      return this.#fail('invalid number value');
    }
    this.#at += found.length;
    return /inf/i.test(found) ? (found.startsWith('-') ? -Infinity : Infinity) : Number(found);
  }

  #colon(): void {
    this.#space('unexpected end of json');
    this.#expect(':', "unexpected character, expected ':'");
    this.#space('unexpected end of json');
  }

  #space(otherwise: string): void {
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.#text);
    this.#at = SPACE.lastIndex;
    if (this.#at === this.#text.length) {
      this.#fail(otherwise);
    }
  }

  #take(character: string): boolean {
    const found = this.#text[this.#at] === character;
    if (found) {
      this.#at++;
    }
    return found;
  }

  #expect(character: string, otherwise: string, at = this.#at + 1): void {
    if (!this.#take(character)) {
      this.#fail(otherwise, at);
    }
  }

  #fail(what: string, at = this.#at): never {
    throw new StateFormatError(`${what} at offset ${at}`);
  }
}
