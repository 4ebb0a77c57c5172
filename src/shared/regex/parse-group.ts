import { type ConditionNode, emptyNode, type LookNode, type RegexNode } from './ast.js';
import { emptySet } from './byte-set.js';
import { parseGroupNumber, parseName } from './parse-escape.js';
import type { Options, ParserState } from './parser-state.js';

const maxDepth = 250;

interface Look {
  readonly opening: string;
  readonly behind: boolean;
  readonly negative: boolean;
}

const looks: readonly Look[] = [
  { opening: '?=', behind: false, negative: false },
  { opening: '?!', behind: false, negative: true },
  { opening: '?<=', behind: true, negative: false },
  { opening: '?<!', behind: true, negative: true },
  { opening: '*pla:', behind: false, negative: false },
  { opening: '*positive_lookahead:', behind: false, negative: false },
  { opening: '*nla:', behind: false, negative: true },
  { opening: '*negative_lookahead:', behind: false, negative: true },
  { opening: '*plb:', behind: true, negative: false },
  { opening: '*positive_lookbehind:', behind: true, negative: false },
  { opening: '*nlb:', behind: true, negative: true },
  { opening: '*negative_lookbehind:', behind: true, negative: true },
];

/** Parses a group at its opening parenthesis; undefined for one that only sets options. */
export function parseGroup(p: ParserState): RegexNode | undefined {
  const at = p.at;
  p.at++;
  const options = p.options;
  if (p.peek() === '*' && p.peek(1) !== '' && p.peek(1) !== ')') {
    if (/[a-z]/.test(p.peek(1))) {
      return closed(p, options, () => parseAlphaGroup(p, at));
    }
    return parseVerb(p, at);
  }
  if (p.peek() !== '?') {
    return closed(p, options, () => (options.noAutoCapture ? p.parseBody(p) : parseCapture(p)));
  }
  const look = takeLook(p);
  if (look !== undefined) {
    return closed(p, options, () => parseLook(p, look.behind, look.negative, at));
  }
  p.at++;
  const c = p.peek();
  switch (c) {
    case '*':
      return p.fail('non-atomic assertions are not supported', at);
    case '':
      return p.fail('missing closing parenthesis');
    case ':':
      p.at++;
      return closed(p, options, () => p.parseBody(p));
    case '>':
      p.at++;
      return closed(p, options, () => ({ t: 'atomic', body: p.parseBody(p) }));
    case '|':
      p.at++;
      return closed(p, options, () => parseBranchReset(p));
    case '<':
    case "'":
      if (p.startsWith('<*')) {
        p.fail('non-atomic assertions are not supported', at);
      }
      p.at++;
      return closed(p, options, () => parseNamed(p, c === '<' ? '>' : "'"));
    case 'P':
      return parsePython(p, options, at);
    case '(':
      return closed(p, options, () => parseCondition(p));
    case 'R':
    case '&':
      return p.fail('recursion is not supported', at);
    case 'C':
      return p.fail('callouts are not supported', at);
  }
  if (/[0-9]/.test(c) || ((c === '+' || c === '-') && /[0-9]/.test(p.peek(1)))) {
    return p.fail('recursion is not supported', at);
  }
  if (c === '+') {
    return p.fail('digit expected after (?+ or (?-');
  }
  return parseOptions(p, options);
}

/** Parses a group's contents and its closing parenthesis, and restores the options of before. */
function closed(p: ParserState, options: Options, parse: () => RegexNode): RegexNode {
  if (++p.depth > maxDepth) {
    p.fail('parentheses are too deeply nested');
  }
  const node = parse();
  if (!p.take(')')) {
    p.fail('missing closing parenthesis');
  }
  p.depth--;
  p.options = options;
  return node;
}

function takeLook(p: ParserState): Look | undefined {
  return looks.find((look) => p.take(look.opening));
}

function parseLook(p: ParserState, behind: boolean, negative: boolean, at: number): LookNode {
  p.lookDepth++;
  const body = p.parseBody(p);
  p.lookDepth--;
  const node: LookNode = { t: 'look', behind, negative, body };
  if (behind) {
    p.lookbehinds.push({ node, at });
  }
  return node;
}

function parseCapture(p: ParserState): RegexNode {
  const index = ++p.groupCount;
  return { t: 'capture', index, body: p.parseBody(p) };
}

function parseNamed(p: ParserState, terminator: string): RegexNode {
  const name = parseName(p, terminator);
  p.addName(name, p.groupCount + 1, p.at);
  return parseCapture(p);
}

/** `(?|...)`: each alternative numbers its groups from the same start. */
function parseBranchReset(p: ParserState): RegexNode {
  const first = p.groupCount;
  let highest = first;
  const node = p.parseBody(p, () => {
    highest = Math.max(highest, p.groupCount);
    p.groupCount = first;
  });
  p.groupCount = highest;
  return node;
}

function parsePython(p: ParserState, options: Options, at: number): RegexNode {
  p.at++;
  if (p.ended) {
    p.fail('missing closing parenthesis');
  }
  if (p.take('<')) {
    return closed(p, options, () => parseNamed(p, '>'));
  }
  if (p.take('=')) {
    const nameAt = p.at;
    return { t: 'backReference', groups: p.refer(parseName(p, ')'), nameAt), caseless: options.caseless };
  }
  return p.peek() === '>' ? p.fail('recursion is not supported', at) : p.fail('unrecognized character after (?P');
}

function parseOptions(p: ParserState, options: Options): RegexNode | undefined {
  const next = { ...options };
  let on = true;
  let hyphenAllowed = true;
  if (p.take('^')) {
    hyphenAllowed = false;
    Object.assign(next, { caseless: false, multiline: false, dotAll: false, extended: false, extendedMore: false, noAutoCapture: false });
  }
  while (!p.ended && p.peek() !== ')' && p.peek() !== ':') {
    const c = p.peek();
    p.at++;
    switch (c) {
      case '-':
        if (!hyphenAllowed) {
          p.fail('invalid hyphen in option setting', p.at - 1);
        }
        hyphenAllowed = false;
        on = false;
        break;
      case 'i':
        next.caseless = on;
        break;
      case 'm':
        next.multiline = on;
        break;
      case 's':
        next.dotAll = on;
        break;
      case 'x':
        next.extended = on;
        next.extendedMore = p.take('x') && on;
        break;
      case 'n':
        next.noAutoCapture = on;
        break;
      case 'J':
        next.duplicateNames = on;
        break;
      case 'U':
        next.ungreedy = on;
        break;
      default:
        p.fail('unrecognized character after (? or (?-', p.at - 1);
    }
  }
  if (p.ended) {
    p.fail('missing closing parenthesis');
  }
  p.options = next;
  if (p.take(')')) {
    return undefined;
  }
  p.at++;
  return closed(p, options, () => p.parseBody(p));
}

function parseCondition(p: ParserState): ConditionNode {
  p.at++;
  const { test, at } = parseTest(p);
  const branches = p.parseBody(p);
  const items = branches.t === 'alternatives' ? branches.items : [branches];
  if (test === 'define') {
    if (items.length > 1) {
      p.failLater('DEFINE subpattern contains more than one branch', at);
    }
    return { t: 'condition', test: [], yes: branches, no: emptyNode };
  }
  if (items.length > 2) {
    p.failLater('conditional subpattern contains more than two branches', at);
  }
  return { t: 'condition', test, yes: items[0]!, no: items[1] ?? emptyNode };
}

interface Test {
  readonly test: ConditionNode['test'] | 'define';
  /** Where PCRE2 reports a fault of the whole condition. */
  readonly at: number;
}

/** Parses the test of a condition after its opening parenthesis. */
function parseTest(p: ParserState): Test {
  const at = p.at;
  const look = takeLook(p);
  if (look !== undefined) {
    const test = closed(p, p.options, () => parseLook(p, look.behind, look.negative, at - 1)) as LookNode;
    return { test, at: 0 };
  }
  if (p.peek() === '?' || p.peek() === '*') {
    p.fail('assertion expected after (?( or (?(?C)', at - 1);
  }
  const number = parseGroupNumber(p);
  if (number !== undefined) {
    if (!p.take(')')) {
      p.fail('missing closing parenthesis for condition');
    }
    return { test: p.refer(number, at - 1), at: at - 3 };
  }
  if (/^R(\d*|&\w+)\)/.test(p.pattern.slice(p.at)) || p.startsWith('VERSION')) {
    p.fail('recursion is not supported', at);
  }
  const quote = p.peek();
  const terminator = quote === '<' ? '>' : quote === "'" ? "'" : ')';
  if (terminator !== ')') {
    p.at++;
  }
  const nameAt = p.at;
  const name = parseName(p, terminator);
  if (terminator !== ')' && !p.take(')')) {
    p.fail('missing closing parenthesis for condition');
  }
  return { test: name === 'DEFINE' ? 'define' : p.refer(name, nameAt), at: nameAt };
}

function parseAlphaGroup(p: ParserState, at: number): RegexNode {
  const look = takeLook(p);
  if (look !== undefined) {
    return parseLook(p, look.behind, look.negative, at);
  }
  if (p.take('*atomic:')) {
    return { t: 'atomic', body: p.parseBody(p) };
  }
  p.takeRun(/\*\w*/y);
  return p.fail('(*alpha_assertion) not recognized');
}

const knownVerbs =
  /\*(?:ACCEPT|COMMIT|PRUNE|SKIP|THEN|MARK|UTF8?|UCP|CR|CRLF|ANY|ANYCRLF|NUL|BSR_ANYCRLF|NOTEMPTY(?:_ATSTART)?)?(?::[^)]*)?\)/y;

/** Backtracking verbs: only the one that always fails has a meaning without PCRE's own matcher. */
function parseVerb(p: ParserState, at: number): RegexNode {
  if (p.take('*FAIL)') || p.take('*F)')) {
    return { t: 'set', set: emptySet() };
  }
  const start = p.at;
  if (p.takeRun(knownVerbs) !== '') {
    p.fail('verbs are not supported', at);
  }
  p.at = start;
  p.takeRun(/\*\w*/y);
  return p.fail('(*VERB) not recognized or malformed');
}
