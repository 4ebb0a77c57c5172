import { isUtf8 } from 'node:buffer';
import { byteText, nativeText } from '../../shared/text/native-text.js';

/** What a JSON text says. Texts are latin1, one character a byte of their UTF-8, as variables are. */
export type Json = string | number | boolean | null | NumberText | readonly Json[] | JsonObject;
export type JsonObject = ReadonlyMap<string, Json>;

/** A number that JavaScript's numbers cannot hold as it is written, such as an identifier of 19 digits. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** How deep objects and arrays may nest. */
const MAX_DEPTH = 32;
/** Half of a pair: two names with different ones would be written with the same bytes. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

export const isObject = (value: Json | undefined): value is JsonObject => value instanceof Map;

/**
 * Reads the JSON object of a token or a key. Undefined for what is none, and for what two readers could understand in two ways: a name that
 * comes twice in an object, half of a surrogate pair, bytes that are no UTF-8. One that nests deeper than 32 levels is refused, too.
 */
export function parseObject(bytes: Buffer): JsonObject | undefined {
  if (!isUtf8(bytes)) {
    return undefined;
  }
  const reader = new Reader(bytes.toString('latin1'));
  const value = reader.value(0);
  return reader.ended() && isObject(value) ? value : undefined;
}

/** Reads one text from its start to its end; each step returns undefined for what is wrong, and nothing is read after that. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  ended(): boolean {
    return this.#next() === -1;
  }

  value(depth: number): Json | undefined {
    const text = this.#text;
    switch (this.#next()) {
      case 34:
        return this.#string();
      case 123:
        return depth === MAX_DEPTH ? undefined : this.#object(depth + 1);
      case 91:
        return depth === MAX_DEPTH ? undefined : this.#array(depth + 1);
      case 116:
        return this.#word('true') ? true : undefined;
      case 102:
        return this.#word('false') ? false : undefined;
      case 110:
        return this.#word('null') ? null : undefined;
      default: {
        NUMBER.lastIndex = this.#at;
        const [number] = NUMBER.exec(text) ?? [];
        if (number === undefined) {
          return undefined;
        }
        this.#at += number.length;
        return String(Number(number)) === number ? Number(number) : new NumberText(number);
      }
    }
  }

  /** The character code at which the next thing begins, -1 at the end. */
  #next(): number {
    const text = this.#text;
    for (; this.#at < text.length; this.#at++) {
      const code = text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) {
        return code;
      }
    }
    return -1;
  }

  #word(word: string): boolean {
    const found = this.#text.startsWith(word, this.#at);
    this.#at += word.length;
    return found;
  }

  #string(): string | undefined {
    const text = this.#text;
    const start = this.#at + 1;
    let escaped = false;
    for (let i = start; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === 34) {
        this.#at = i + 1;
        return escaped ? unescaped(text.slice(start, i)) : text.slice(start, i);
      }
      if (code < 32) {
        return undefined;
      }
      if (code === 92) {
        escaped = true;
        i++;
      }
    }
    return undefined;
  }

  #object(depth: number): JsonObject | undefined {
    const object = new Map<string, Json>();
    this.#at++;
    if (this.#next() === 125) {
      this.#at++;
      return object;
    }
    for (;;) {
      const name = this.#next() === 34 ? this.#string() : undefined;
      if (name === undefined || object.has(name) || this.#next() !== 58) {
        return undefined;
      }
      this.#at++;
      const value = this.value(depth);
      if (value === undefined) {
        return undefined;
      }
      object.set(name, value);
      const after = this.#next();
      this.#at++;
      if (after === 125) {
        return object;
      }
      if (after !== 44) {
        return undefined;
      }
    }
  }

  #array(depth: number): Json[] | undefined {
    const array: Json[] = [];
    this.#at++;
    if (this.#next() === 93) {
      this.#at++;
      return array;
    }
    for (;;) {
      const value = this.value(depth);
      if (value === undefined) {
        return undefined;
      }
      array.push(value);
      const after = this.#next();
      this.#at++;
      if (after === 93) {
        return array;
      }
      if (after !== 44) {
        return undefined;
      }
    }
  }
}

function unescaped(inside: string): string | undefined {
  try {
    const text = JSON.parse(`"${nativeText(inside)}"`) as string;
    return LONE_SURROGATE.test(text) ? undefined : byteText(text);
  } catch {
    return undefined;
  }
}

/** The number of a member; undefined for what is no number, or one beyond all bounds. */
export function numberOf(value: Json | undefined): number | undefined {
  const number = value instanceof NumberText ? Number(value.text) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The text of a member; undefined for what is no text. */
export const textMember = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

/** Writes a value as JSON without spaces, in the encoding that it was read in. */
export function writeJson(value: Json): string {
  if (value instanceof NumberText) {
    return value.text;
  }
  if (Array.isArray(value)) {
    return `[${value.map(writeJson).join(',')}]`;
  }
  if (isObject(value)) {
    return `{${[...value].map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}
