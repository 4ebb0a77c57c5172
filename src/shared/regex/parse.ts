import { type AtomicNode, emptyNode, fixedLength, type GroupName, type RegexNode, type RepeatMode } from './ast.js';
import { addByte, type ByteSet, emptySet, escapeSets, foldCase, fullSet } from './byte-set.js';
import { parseClass, posixAt } from './parse-class.js';
import { parseEscape } from './parse-escape.js';
import { parseGroup } from './parse-group.js';
import { type Options, ParserState } from './parser-state.js';

/** A parsed pattern: its tree, the number of its groups and their names in the order of PCRE's name table. */
export interface ParsedRegex {
  readonly root: RegexNode;
  readonly captures: number;
  readonly names: readonly GroupName[];
}

const noOptions: Options = {
  caseless: false,
  multiline: false,
  dotAll: false,
  extended: false,
  extendedMore: false,
  ungreedy: false,
  noAutoCapture: false,
  duplicateNames: false,
};

/** Settings at the very start of a pattern that change nothing for byte matching with a step limit of our own. */
const startSettings =
  /\(\*(?:NO_START_OPT|NO_AUTO_POSSESS|NO_JIT|NO_DOTSTAR_ANCHOR|LF|BSR_UNICODE|LIMIT_(?:MATCH|DEPTH|RECURSION|HEAP)=\d+)\)/y;

/**
 * Parses a pattern in PCRE2's syntax, taking one character for one byte. It throws RegexError with PCRE2's text and offset
 * for a malformed pattern, and for the few constructs that are not supported: recursion, callouts, most verbs and UTF mode.
 */
export function parseRegex(pattern: string, caseless: boolean): ParsedRegex {
  const p = new ParserState(pattern, { ...noOptions, caseless }, parseAlternatives);
  while (p.takeRun(startSettings) !== '') {
    // Each setting is stepped over.
  }
  const root = parseAlternatives(p);
  if (!p.ended) {
    p.fail('unmatched closing parenthesis');
  }
  for (const { node, at } of p.lookbehinds) {
    const branches = node.body.t === 'alternatives' ? node.body.items : [node.body];
    if (branches.some((branch) => fixedLength(branch) === undefined)) {
      p.fail('lookbehind assertion is not fixed length', at);
    }
  }
  p.resolve();
  const names = [...p.names].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.index - b.index));
  return { root, captures: p.groupCount, names };
}

/** Parses up to a closing parenthesis, which is left to the caller, or the end. Options set inside hold to there. */
function parseAlternatives(p: ParserState, eachBranch?: () => void): RegexNode {
  const branches = [parseSequence(p)];
  eachBranch?.();
  while (p.take('|')) {
    branches.push(parseSequence(p));
    eachBranch?.();
  }
  return branches.length === 1 ? branches[0]! : { t: 'alternatives', items: branches };
}

function parseSequence(p: ParserState): RegexNode {
  const items: RegexNode[] = [];
  let repeatable = false;
  let quoted = false;
  for (;;) {
    const c = p.peek();
    if (c === '') {
      break;
    }
    if (quoted) {
      if (p.take('\\E')) {
        quoted = false;
      } else {
        p.at++;
        items.push(literal(p, c.charCodeAt(0)));
        repeatable = true;
      }
      continue;
    }
    if (c === '|' || c === ')') {
      break;
    }
    if (p.take('\\Q')) {
      quoted = true;
      continue;
    }
    if (p.take('\\E') || skipped(p, c)) {
      continue;
    }
    const repeat = parseQuantifier(p, c);
    if (repeat !== undefined) {
      if (!repeatable) {
        p.fail('quantifier does not follow a repeatable item', repeat.at);
      }
      items.push(repeated(p, items.pop()!, repeat));
      repeatable = false;
      continue;
    }
    const at = p.at;
    const node = parseAtom(p, c);
    // Assertions, \K and (*FAIL) take no quantifier, unless a group is put around them.
    repeatable = node !== undefined && (c === '(' ? !p.pattern.startsWith('(*F', at) : node.t !== 'assert' && node.t !== 'keep');
    if (node !== undefined) {
      items.push(node);
    }
  }
  return items.length === 1 ? items[0]! : items.length === 0 ? emptyNode : { t: 'sequence', items: items.slice() };
}

/** Steps over a comment, or a blank or `#` comment under (?x). */
function skipped(p: ParserState, c: string): boolean {
  if (p.startsWith('(?#')) {
    const end = p.pattern.indexOf(')', p.at);
    if (end < 0) {
      p.fail('missing ) after (?# comment', p.pattern.length);
    }
    p.at = end + 1;
    return true;
  }
  if (!p.options.extended) {
    return false;
  }
  if (c === '#') {
    p.takeRun(/[^\n]*\n?/y);
    return true;
  }
  if (/[\t\n\v\f\r ]/.test(c)) {
    p.at++;
    return true;
  }
  return false;
}

function parseAtom(p: ParserState, c: string): RegexNode | undefined {
  const at = p.at;
  if (c === '(') {
    return parseGroup(p);
  }
  if (c === '[') {
    const posix = posixAt(p);
    if (posix !== undefined) {
      const text =
        p.peek(1) === ':' ? 'POSIX named classes are supported only within a class' : 'POSIX collating elements are not supported';
      p.fail(text, at);
    }
    p.at++;
    return { t: 'set', set: parseClass(p) };
  }
  p.at++;
  switch (c) {
    case '^':
      return { t: 'assert', kind: p.options.multiline ? 'lineStart' : 'start' };
    case '$':
      return { t: 'assert', kind: p.options.multiline ? 'lineEnd' : 'endOrNewline' };
    case '.':
      return { t: 'set', set: p.options.dotAll ? fullSet() : escapeSets.N };
    case '\\': {
      const item = parseEscape(p, false);
      if (typeof item === 'number') {
        return literal(p, item);
      }
      return item instanceof Uint32Array ? { t: 'set', set: item } : item;
    }
    default:
      return literal(p, c.charCodeAt(0));
  }
}

/** The sets of single bytes, as they are and of both cases. All patterns share them: they are most of a pattern. */
const exactBytes: (ByteSet | undefined)[] = [];
const foldedBytes: (ByteSet | undefined)[] = [];

function literal(p: ParserState, byte: number): RegexNode {
  const { caseless } = p.options;
  const known = caseless ? foldedBytes : exactBytes;
  let set = known[byte];
  if (set === undefined) {
    set = emptySet();
    addByte(set, byte);
    if (caseless) {
      set = foldCase(set);
    }
    known[byte] = set;
  }
  return { t: 'set', set };
}

interface Quantifier {
  readonly min: number;
  readonly max: number;
  /** Where a misplaced quantifier is reported: its last character before a `+` or `?`. */
  readonly at: number;
}

function parseQuantifier(p: ParserState, c: string): Quantifier | undefined {
  const at = p.at;
  switch (c) {
    case '*':
      p.at++;
      return { min: 0, max: Number.POSITIVE_INFINITY, at };
    case '+':
      p.at++;
      return { min: 1, max: Number.POSITIVE_INFINITY, at };
    case '?':
      p.at++;
      return { min: 0, max: 1, at };
    case '{': {
      const counts = /^\{(\d+)(,?)(\d*)\}/.exec(p.pattern.slice(at));
      return counts === null ? undefined : parseCounts(p, counts);
    }
    default:
      return undefined;
  }
}

function parseCounts(p: ParserState, counts: RegExpExecArray): Quantifier {
  const min = parseCount(p, counts[1]!, p.at + 1);
  const max =
    counts[2] === '' ? min : counts[3] === '' ? Number.POSITIVE_INFINITY : parseCount(p, counts[3]!, p.at + 2 + counts[1]!.length);
  p.at += counts[0].length;
  if (max < min) {
    p.fail('numbers out of order in {} quantifier', p.at - 1);
  }
  return { min, max, at: p.at - 1 };
}

function parseCount(p: ParserState, digits: string, at: number): number {
  let value = 0;
  for (let i = 0; i < digits.length; i++) {
    value = value * 10 + Number(digits[i]);
    if (value > 65535) {
      p.fail('number too big in {} quantifier', at + i + 1);
    }
  }
  return value;
}

function repeated(p: ParserState, body: RegexNode, { min, max }: Quantifier): RegexNode {
  let mode: RepeatMode = p.options.ungreedy ? 'lazy' : 'greedy';
  if (p.take('+')) {
    mode = 'possessive';
  } else if (p.take('?')) {
    mode = p.options.ungreedy ? 'greedy' : 'lazy';
  }
  if (body.t === 'look') {
    // nginx's PCRE tries a repeated lookaround at most once.
    return { t: 'repeat', body, min: Math.min(min, 1), max: Math.min(max, 1), mode };
  }
  if (min === 1 && max === 1) {
    return mode === 'possessive' ? atomic(body) : body;
  }
  return { t: 'repeat', body, min, max, mode };
}

function atomic(body: RegexNode): AtomicNode {
  return { t: 'atomic', body };
}
