import type { RegexNode } from './ast.js';
import { type ByteSet, complement, escapeSets, fullSet, propertySet, setOf, union } from './byte-set.js';
import type { ParserState } from './parser-state.js';

/** What a backslash sequence stands for: a byte, a set of bytes, or a node that no class can hold. */
export type Escape = number | ByteSet | RegexNode;

const unsupportedCase = 'PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u';
const controls: { readonly [letter: string]: number } = { a: 7, e: 27, f: 12, n: 10, r: 13, t: 9 };
const assertions: { readonly [letter: string]: RegexNode } = {
  A: { t: 'assert', kind: 'start' },
  G: { t: 'assert', kind: 'start' },
  Z: { t: 'assert', kind: 'endOrNewline' },
  z: { t: 'assert', kind: 'end' },
  b: { t: 'assert', kind: 'boundary' },
  B: { t: 'assert', kind: 'notBoundary' },
};

/** \R and \X: CR LF taken as one, or any other byte of a set. */
function crLfOr(set: ByteSet): RegexNode {
  const crLf: RegexNode = {
    t: 'sequence',
    items: [
      { t: 'set', set: setOf('\r') },
      { t: 'set', set: setOf('\n') },
    ],
  };
  return { t: 'atomic', body: { t: 'alternatives', items: [crLf, { t: 'set', set }] } };
}

/** Reads what follows a backslash, which was read already. */
export function parseEscape(p: ParserState, inClass: boolean): Escape {
  const start = p.at - 1;
  const c = p.peek();
  if (c === '') {
    p.fail('\\ at end of pattern');
  }
  p.at++;
  if (!/[0-9A-Za-z]/.test(c)) {
    return c.charCodeAt(0);
  }
  if (controls[c] !== undefined) {
    return controls[c];
  }
  switch (c) {
    case 'd':
    case 'w':
    case 's':
    case 'h':
    case 'v':
      return escapeSets[c];
    case 'D':
    case 'W':
    case 'S':
    case 'H':
    case 'V':
      return complement(escapeSets[c.toLowerCase() as 'd']);
    case 'p':
    case 'P':
      return parseProperty(p, c === 'P');
    case 'c':
      return parseControl(p);
    case 'x':
      return parseHex(p);
    case 'o':
      return parseBracedOctal(p);
    case 'F':
    case 'L':
    case 'l':
    case 'U':
    case 'u':
      return p.fail(unsupportedCase);
    case 'N':
      return parseNotNewline(p, inClass);
  }
  if (c >= '0' && c <= '9') {
    return parseNumber(p, c, inClass);
  }
  if (inClass) {
    return parseClassOnly(p, c);
  }
  switch (c) {
    case 'A':
    case 'G':
    case 'Z':
    case 'z':
    case 'b':
    case 'B':
      return assertions[c]!;
    case 'C':
      return fullSet();
    case 'R':
      return crLfOr(escapeSets.v);
    case 'X':
      return crLfOr(fullSet());
    case 'K':
      if (p.lookDepth > 0) {
        p.failLater('\\K is not allowed in lookarounds (but see PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK)', p.pattern.length);
      }
      return { t: 'keep' };
    case 'g':
      return parseGroupReference(p, start);
    case 'k':
      return parseNameReference(p);
    default:
      return p.fail('unrecognized character follows \\', p.at - 1);
  }
}

function parseClassOnly(p: ParserState, c: string): Escape {
  switch (c) {
    case 'b':
      return 8;
    case 'g':
      return c.charCodeAt(0);
    case 'A':
    case 'B':
    case 'C':
    case 'G':
    case 'K':
    case 'R':
    case 'X':
    case 'Z':
    case 'k':
    case 'z':
      return p.fail('escape sequence is invalid in character class', p.at - 1);
    default:
      return p.fail('unrecognized character follows \\', p.at - 1);
  }
}

function parseNotNewline(p: ParserState, inClass: boolean): Escape {
  if (p.peek() === '{' && !/^\{\d+(,\d*)?\}/.test(p.pattern.slice(p.at))) {
    p.fail(p.startsWith('{U+') ? '\\N{U+dddd} is supported only in Unicode (UTF) mode' : unsupportedCase, p.at);
  }
  return inClass ? p.fail('\\N is not supported in a class') : escapeSets.N;
}

function parseControl(p: ParserState): number {
  const c = p.peek();
  if (c === '') {
    p.fail('\\c at end of pattern');
  }
  const code = c.charCodeAt(0);
  if (code < 32 || code > 126) {
    p.fail('\\c must be followed by a printable ASCII character');
  }
  p.at++;
  return c.toUpperCase().charCodeAt(0) ^ 0x40;
}

function parseHex(p: ParserState): number {
  if (p.peek() !== '{') {
    const digits = p.takeRun(/[0-9A-Fa-f]{0,2}/y);
    return digits === '' ? 0 : Number.parseInt(digits, 16);
  }
  p.at++;
  return parseBraced(p, 16, 'non-hex character in \\x{} (closing brace missing?)');
}

function parseBracedOctal(p: ParserState): number {
  if (!p.take('{')) {
    p.fail('missing opening brace after \\o', p.ended ? p.at - 1 : p.at);
  }
  return parseBraced(p, 8, 'non-octal character in \\o{} (closing brace missing?)');
}

function parseBraced(p: ParserState, base: number, malformed: string): number {
  if (p.ended || p.peek() === '}') {
    p.fail('digits missing in \\x{} or \\o{} or \\N{U+}');
  }
  let value = 0;
  for (;;) {
    const digit = Number.parseInt(p.peek(), base);
    if (Number.isNaN(digit)) {
      break;
    }
    p.at++;
    value = value * base + digit;
    if (value > 255) {
      p.takeRun(base === 16 ? /[0-9A-Fa-f]*/y : /[0-7]*/y);
      p.fail('character code point value in \\x{} or \\o{} is too large');
    }
  }
  if (!p.take('}')) {
    p.fail(malformed, p.ended ? p.at - 1 : p.at);
  }
  return value;
}

function parseProperty(p: ParserState, negated: boolean): ByteSet {
  let name = p.peek();
  let not = negated;
  if (name === '') {
    p.fail('malformed \\P or \\p sequence');
  }
  p.at++;
  if (name === '{') {
    if (p.take('^')) {
      not = !not;
    }
    name = p.takeRun(/[^}\0]*/y);
    if (!p.take('}')) {
      p.fail('malformed \\P or \\p sequence');
    }
  } else if (!/[A-Za-z]/.test(name)) {
    p.fail('malformed \\P or \\p sequence');
  }
  let set = propertySet(name);
  if (set === undefined) {
    return p.fail('unknown property after \\P or \\p');
  }
  if (p.options.caseless && /^\^?(Lu|Ll|Lt)$/i.test(name)) {
    set = union(union(propertySet('Lu')!, propertySet('Ll')!), propertySet('Lt')!);
  }
  return not ? complement(set) : set;
}

/** A back reference, or outside the groups seen so far an octal number. */
function parseNumber(p: ParserState, first: string, inClass: boolean): Escape {
  if (first !== '0' && !inClass) {
    const rest = /^\d*/.exec(p.pattern.slice(p.at))![0];
    const number = Number(first + rest);
    if (number >= 214748364) {
      p.at += rest.length;
      p.fail('subpattern number is too big');
    }
    if (number < 10 || first >= '8' || number <= p.groupCount) {
      p.at += rest.length;
      return reference(p, number, p.at - 1);
    }
  }
  if (first >= '8') {
    return first.charCodeAt(0);
  }
  const value = Number.parseInt(first + p.takeRun(/[0-7]{0,2}/y), 8);
  return value > 255 ? p.fail('octal value is greater than \\377 in 8-bit non-UTF-8 mode') : value;
}

function reference(p: ParserState, target: number | string, at: number): RegexNode {
  return { t: 'backReference', groups: p.refer(target, at), caseless: p.options.caseless };
}

/** Reads a group's number, which may be relative to the groups opened so far; undefined when there is none. */
export function parseGroupNumber(p: ParserState): number | undefined {
  const sign = p.peek() === '+' || p.peek() === '-' ? p.peek() : '';
  if (!/[0-9]/.test(p.peek(sign.length))) {
    return undefined;
  }
  p.at += sign.length;
  const number = Number(p.takeRun(/\d+/y));
  if (number > 65535) {
    p.fail('subpattern number is too big');
  }
  if (sign === '') {
    return number;
  }
  if (number === 0) {
    p.fail('a relative value of zero is not allowed');
  }
  if (sign === '+') {
    return p.groupCount + number;
  }
  return number > p.groupCount ? p.fail('reference to non-existent subpattern') : p.groupCount - number + 1;
}

/** Reads a group's name and its terminator. */
export function parseName(p: ParserState, terminator: string): string {
  const start = p.at;
  if (p.ended) {
    p.fail('subpattern name expected');
  }
  if (/[0-9]/.test(p.peek())) {
    p.fail('subpattern name must start with a non-digit');
  }
  const name = p.takeRun(/\w*/y);
  if (name.length > 32) {
    p.fail('subpattern name is too long (maximum 32 code units)', start + 33);
  }
  if (name === '') {
    p.fail('subpattern name expected');
  }
  if (!p.take(terminator)) {
    p.fail('syntax error in subpattern name (missing terminator?)');
  }
  return name;
}

const malformedG = '\\g is not followed by a braced, angle-bracketed, or quoted name/number or by a plain number';

function parseGroupReference(p: ParserState, start: number): RegexNode {
  if (p.peek() === '<' || p.peek() === "'") {
    return p.fail('recursion is not supported', start);
  }
  const braced = p.take('{');
  const number = parseGroupNumber(p);
  if (number === undefined) {
    if (!braced) {
      p.fail(malformedG);
    }
    const at = p.at;
    return reference(p, parseName(p, '}'), at);
  }
  if (braced && !p.take('}')) {
    p.fail(malformedG);
  }
  if (number === 0) {
    p.fail('reference to non-existent subpattern');
  }
  return reference(p, number, p.at - 1);
}

function parseNameReference(p: ParserState): RegexNode {
  const terminator = { '<': '>', "'": "'", '{': '}' }[p.peek()];
  if (terminator === undefined) {
    return p.fail('\\k is not followed by a braced, angle-bracketed, or quoted name');
  }
  p.at++;
  const at = p.at;
  return reference(p, parseName(p, terminator), at);
}
