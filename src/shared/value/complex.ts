import type { Pos } from '../config/language/ast.js';
import type { Subject } from './subject.js';
import type { VariableTable } from './variables.js';

/** Text with variables in it, compiled. */
export interface ComplexValue<R> {
  /** The text as written. */
  readonly text: string;
  /** The value when no variable is in it: callers decide at configuration time. */
  readonly constant: string | undefined;
  eval(r: R): string;
}

type Part<R> = string | ((r: R) => string);

/** Thrown for text that is not well formed; the caller adds the position. */
export class ComplexValueError extends Error {}

const isNameChar = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;

/** Splits text into literal parts, variable names and capture numbers. nginx: ngx_http_script_compile. */
export function parseTemplate(text: string): (string | { readonly variable: string } | { readonly capture: number })[] {
  const parts: (string | { variable: string } | { capture: number })[] = [];
  let literal = '';
  let i = 0;
  while (i < text.length) {
    if (text[i] !== '$') {
      const next = text.indexOf('$', i);
      const end = next === -1 ? text.length : next;
      literal += text.slice(i, end);
      i = end;
      continue;
    }
    i++;
    if (i === text.length) {
      throw new ComplexValueError('invalid variable name');
    }
    const code = text.charCodeAt(i);
    if (code >= 49 && code <= 57) {
      if (literal !== '') {
        parts.push(literal);
      }
      literal = '';
      parts.push({ capture: code - 48 });
      i++;
      continue;
    }
    const braced = text[i] === '{';
    if (braced) {
      i++;
    }
    const start = i;
    while (i < text.length && isNameChar(text.charCodeAt(i))) {
      i++;
    }
    const name = text.slice(start, i);
    if (braced) {
      if (text[i] !== '}') {
        throw new ComplexValueError(
          start === text.length ? 'invalid variable name' : `the closing bracket in "${name}" variable is missing`,
        );
      }
      i++;
    }
    if (name === '') {
      throw new ComplexValueError('invalid variable name');
    }
    if (literal !== '') {
      parts.push(literal);
    }
    literal = '';
    parts.push({ variable: name });
  }
  if (literal !== '') {
    parts.push(literal);
  }
  return parts;
}

/** Compiles text with variables. Throws {@link ComplexValueError}. nginx: ngx_http_compile_complex_value. */
export function compileComplex<R extends Subject>(text: string, table: VariableTable<R>, pos?: Pos): ComplexValue<R> {
  if (!text.includes('$')) {
    return constantValue(text);
  }
  return { text, constant: undefined, eval: table.evaluation(text) ?? table.remember(text, joinParts(partsOf(text, table, pos))) };
}

function partsOf<R extends Subject>(text: string, table: VariableTable<R>, pos: Pos | undefined): readonly Part<R>[] {
  return parseTemplate(text).map((part) => {
    if (typeof part === 'string') {
      return part;
    }
    return 'capture' in part ? capture(part.capture) : table.reader(table.slot(part.variable, pos));
  });
}

const capture =
  (n: number): Part<Subject> =>
  (r) =>
    r.captures?.[n] ?? '';

/** A value that is always the same text. */
export const constantValue = <R>(text: string): ComplexValue<R> => ({ text, constant: text, eval: () => text });

// Each function keeps what it needs and no more: there may be as many as directives.
function joinParts<R>(parts: readonly Part<R>[]): (r: R) => string {
  const [a, b, c] = parts;
  if (parts.length === 1 && typeof a === 'function') {
    return a;
  }
  if (parts.length === 2) {
    if (typeof a === 'string' && typeof b === 'function') {
      return textAndValue(a, b);
    }
    if (typeof a === 'function' && typeof b === 'string') {
      return valueAndText(a, b);
    }
    if (typeof a === 'function' && typeof b === 'function') {
      return a === b ? sameValueTwice(a) : twoValues(a, b);
    }
  }
  if (parts.length === 3 && typeof a === 'string' && typeof b === 'function' && typeof c === 'string') {
    return valueBetween(a, b, c);
  }
  return parts.some((part, i) => parts.indexOf(part) !== i && typeof part === 'function') ? repeatedParts(parts) : severalParts(parts);
}

type Evaluate<R> = (r: R) => string;

const textAndValue =
  <R>(a: string, b: Evaluate<R>): Evaluate<R> =>
  (r) =>
    a + b(r);

const valueAndText =
  <R>(a: Evaluate<R>, b: string): Evaluate<R> =>
  (r) =>
    a(r) + b;

const twoValues =
  <R>(a: Evaluate<R>, b: Evaluate<R>): Evaluate<R> =>
  (r) =>
    a(r) + b(r);

const sameValueTwice =
  <R>(a: Evaluate<R>): Evaluate<R> =>
  (r) => {
    const value = a(r);
    return value + value;
  };

const valueBetween =
  <R>(a: string, b: Evaluate<R>, c: string): Evaluate<R> =>
  (r) =>
    a + b(r) + c;

const severalParts =
  <R>(parts: readonly Part<R>[]): Evaluate<R> =>
  (r) => {
    let text = '';
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!;
      text += typeof part === 'string' ? part : part(r);
    }
    return text;
  };

/** A text that has a variable several times, each of which is its first value. nginx: ngx_http_script_flush_complex_value. */
const repeatedParts = <R>(parts: readonly Part<R>[]): Evaluate<R> => {
  const first = parts.map((part) => parts.indexOf(part));
  return (r) => {
    const values: string[] = [];
    let text = '';
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!;
      const value = first[i] === i ? (typeof part === 'string' ? part : part(r)) : values[first[i]!]!;
      values.push(value);
      text += value;
    }
    return text;
  };
};
