import { addByte, addSet, type ByteSet, complement, emptySet, foldCase, posixSets } from './byte-set.js';
import { parseEscape } from './parse-escape.js';
import type { ParserState } from './parser-state.js';

const invalidRange = 'invalid range in character class';

/** Parses a character class whose opening bracket was read. */
export function parseClass(p: ParserState): ByteSet {
  const set = emptySet();
  const negated = p.take('^');
  let quoted = false;
  let first = true;
  // The byte a range may start at; 'set' after something that cannot start one.
  let pending: number | 'set' | undefined;
  for (;;) {
    if (p.ended) {
      p.fail('missing terminating ] for character class');
    }
    const c = p.peek();
    if (quoted) {
      if (p.take('\\E')) {
        quoted = false;
        continue;
      }
    } else if (p.take('\\Q')) {
      quoted = true;
      continue;
    } else if (p.take('\\E')) {
      continue;
    } else if (p.options.extendedMore && (c === ' ' || c === '\t')) {
      p.at++;
      continue;
    } else if (c === ']' && !first) {
      p.at++;
      break;
    } else if (c === '[' && takePosix(p, set)) {
      pending = 'set';
      first = false;
      continue;
    } else if (c === '-' && pending !== undefined && !first) {
      p.at++;
      if (pending === 'set' && !p.ended && p.peek() !== ']') {
        p.fail(invalidRange, p.at - 1);
      }
      const end = parseRangeEnd(p);
      if (end === undefined) {
        addByte(set, 0x2d);
        pending = undefined;
        continue;
      }
      if (end < (pending as number)) {
        p.fail('range out of order in character class', p.at - 1);
      }
      addRange(p, set, pending as number, end);
      pending = undefined;
      continue;
    }
    first = false;
    p.at++;
    pending = addItem(p, set, quoted ? c.charCodeAt(0) : parseItem(p, c));
  }
  return negated ? complement(set) : set;
}

function parseItem(p: ParserState, c: string): number | ByteSet {
  return c === '\\' ? (parseEscape(p, true) as number | ByteSet) : c.charCodeAt(0);
}

function addItem(p: ParserState, set: ByteSet, item: number | ByteSet): number | 'set' {
  if (typeof item === 'number') {
    addRange(p, set, item, item);
    return item;
  }
  addSet(set, item);
  return 'set';
}

function addRange(p: ParserState, set: ByteSet, from: number, to: number): void {
  const range = emptySet();
  for (let c = from; c <= to; c++) {
    addByte(range, c);
  }
  addSet(set, p.options.caseless ? foldCase(range) : range);
}

/** Reads what follows a hyphen: undefined when the class ends, so that the hyphen is a plain character. */
function parseRangeEnd(p: ParserState): number | undefined {
  for (;;) {
    if (p.options.extendedMore && (p.peek() === ' ' || p.peek() === '\t')) {
      p.at++;
    } else if (!p.take('\\E')) {
      break;
    }
  }
  const c = p.peek();
  if (c === '' || c === ']') {
    return undefined;
  }
  if (p.take('\\Q')) {
    // A quoted run may be the end of a range; its first character counts.
    if (p.take('\\E')) {
      return parseRangeEnd(p);
    }
    p.at++;
    const end = p.pattern.charCodeAt(p.at - 1);
    p.take('\\E');
    return end;
  }
  if (c === '[' && posixAt(p) !== undefined) {
    p.fail(invalidRange, p.at + 1);
  }
  if (c === '\\' && /[ACDGHKPSVWZdhkpsvwz]/.test(p.peek(1))) {
    p.fail(invalidRange, p.at + 2);
  }
  p.at++;
  return parseItem(p, c) as number;
}

/** Finds `[:name:]`, `[.x.]` or `[=x=]` at the current place; returns where its closing pair of characters stands. */
export function posixAt(p: ParserState): number | undefined {
  const kind = p.peek(1);
  if (kind !== ':' && kind !== '.' && kind !== '=') {
    return undefined;
  }
  for (let i = p.at + 2; i < p.pattern.length - 1; i++) {
    const c = p.pattern.charAt(i);
    if (c === '\\' && (p.pattern.charAt(i + 1) === ']' || p.pattern.charAt(i + 1) === '\\')) {
      i++;
    } else if ((c === '[' && p.pattern.charAt(i + 1) === kind) || c === ']') {
      return undefined;
    } else if (c === kind && p.pattern.charAt(i + 1) === ']') {
      return i;
    }
  }
  return undefined;
}

function takePosix(p: ParserState, set: ByteSet): boolean {
  const end = posixAt(p);
  if (end === undefined) {
    return false;
  }
  if (p.peek(1) !== ':') {
    p.fail('POSIX collating elements are not supported');
  }
  const negated = p.peek(2) === '^';
  const start = p.at + (negated ? 3 : 2);
  const known = posixSets[p.pattern.slice(start, end)];
  if (known === undefined) {
    p.fail('unknown POSIX class name', start);
  }
  const posix = p.options.caseless ? foldCase(known!) : known!;
  addSet(set, negated ? complement(posix) : posix);
  p.at = end + 2;
  return true;
}
