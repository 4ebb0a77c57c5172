import type { GroupName, Node } from './ast.js';
import { type ByteSet, complement, fullSet, includesSet, setOf } from './byte-set.js';
import { costOf } from './cost.js';
import { emitJs } from './emit-js.js';
import { Matcher } from './matcher.js';
import { type ParsedRegex, parseRegex } from './parse.js';
import { maxProgramSize, programSize } from './program.js';
import { RegexError } from './regex-error.js';
import { isAnchored, nullable } from './tree.js';

export type { GroupName } from './ast.js';

/** A match: the matched text and each group's, undefined where a group is not set. */
export type RegexMatch = readonly (string | undefined)[];

/** A regular expression with PCRE's meaning over latin1 strings. No call takes more than some milliseconds. */
export interface CompiledRegex {
  readonly pattern: string;
  /** Number of capturing groups. */
  readonly captures: number;
  /** Named groups in the order of their names, as in PCRE's name table. */
  readonly names: readonly GroupName[];
  /** 0, or PCRE2's error when the last call gave up: -47, the match limit. See matchFailure(). */
  readonly error: number;
  test(subject: string): boolean;
  /** Returns null when there is no match, and when `error` is set. */
  exec(subject: string): RegexMatch | null;
}

/** PCRE2_ERROR_MATCHLIMIT */
const matchLimitError = -47;

/** Steps, of about 1 ns in machine code, that a RegExp may be expected to need at most. */
const stepBudget = 4_000_000;

/** nginx: NGX_MAX_CONF_ERRSTR */
const maxErrorLength = 1024;

const notNewline = complement(setOf('\n'));

/**
 * Compiles a pattern (nginx: ngx_regex_compile). It throws an Error whose message is nginx's,
 * `pcre2_compile() failed: TEXT in "PATTERN" at "REST"`, without the closing `" in FILE:LINE`.
 */
export function compileRegex(pattern: string, flags: { readonly caseless: boolean }): CompiledRegex {
  try {
    const parsed = parseRegex(pattern, flags.caseless);
    if (programSize(parsed.root) > maxProgramSize) {
      throw new RegexError('regular expression is too large', pattern.length);
    }
    return new Regex(pattern, parsed);
  } catch (error) {
    if (error instanceof RegexError) {
      const where = error.at >= pattern.length ? '' : ` at "${pattern.slice(error.at)}"`;
      throw new Error(`pcre2_compile() failed: ${error.message} in "${pattern}"${where}`.slice(0, maxErrorLength));
    }
    throw error;
  }
}

/** Words the log message for a call that gave up; such a request is answered with 500 (nginx: ngx_http_regex_exec). */
export function matchFailure(regex: CompiledRegex, subject: string): string {
  return `pcre2_match() failed: ${regex.error} on "${subject}" using "${regex.pattern}"`;
}

/** Where a newline in the subject calls for the more exact of two RegExps. */
const NOWHERE = 0;
const AT_THE_END = 1;
const ANYWHERE = 2;

class Regex implements CompiledRegex {
  readonly pattern: string;
  readonly captures: number;
  readonly names: readonly GroupName[];
  error = 0;
  readonly #root: Node;
  /** The longest subject that RegExp is trusted with. */
  #limit = -1;
  #prepared = false;
  #newlines = NOWHERE;
  #plain: RegExp | undefined = undefined;
  #exact: RegExp | undefined = undefined;
  #matcher: Matcher | undefined = undefined;

  constructor(pattern: string, parsed: ParsedRegex) {
    this.pattern = pattern;
    this.captures = parsed.captures;
    this.names = parsed.names;
    this.#root = parsed.root;
  }

  test(subject: string): boolean {
    if (subject.length <= this.#limit) {
      this.error = 0;
      return this.#regexFor(subject).test(subject);
    }
    return this.#carefully(subject) !== null;
  }

  exec(subject: string): RegexMatch | null {
    if (subject.length <= this.#limit) {
      this.error = 0;
      return this.#regexFor(subject).exec(subject);
    }
    return this.#carefully(subject);
  }

  #regexFor(subject: string): RegExp {
    if (this.#newlines === NOWHERE) {
      return this.#plain!;
    }
    const newline = this.#newlines === AT_THE_END ? subject.charCodeAt(subject.length - 1) === 10 : subject.includes('\n');
    return newline ? this.#exact! : this.#plain!;
  }

  #carefully(subject: string): RegexMatch | null {
    if (!this.#prepared) {
      this.#prepared = true;
      this.#prepare();
      return this.exec(subject);
    }
    this.#matcher ??= new Matcher(this.#root, this.captures, firstBytes(this.#root));
    const match = this.#matcher.exec(subject);
    this.error = this.#matcher.exhausted ? matchLimitError : 0;
    return match;
  }

  /** Translates on first use: a configuration may hold hundreds of patterns that are never tried. */
  #prepare(): void {
    const plain = emitJs(this.#root, false);
    if (plain === undefined) {
      return;
    }
    const exact = emitJs(this.#root, true)!;
    const leading = leadingRun(this.#root);
    if (leading === 'line') {
      this.#newlines = ANYWHERE;
    } else if (plain !== exact) {
      this.#newlines = AT_THE_END;
    }
    try {
      this.#plain = new RegExp(leading === undefined ? plain : `^${plain}`);
      this.#exact = new RegExp(leading === undefined ? exact : leading === 'line' ? `(?<![^\\n])${exact}` : `^${exact}`);
      // The first call compiles to bytecode, the second to machine code; either may find the pattern too large.
      this.#plain.test('');
      this.#plain.test('');
      this.#exact.test('');
      this.#exact.test('');
    } catch {
      // Beyond what RegExp takes, in size for one: left to the matcher.
      return;
    }
    this.#limit = longestSafe(this.#root, leading !== undefined);
  }
}

/**
 * A pattern that begins with `.*` matches at the start of a line or nowhere, since the run takes what precedes any other
 * place; knowing it saves trying every place in turn. 'subject' where the run takes newlines as well.
 */
function leadingRun(root: Node): 'line' | 'subject' | undefined {
  let node = root;
  while (node.t === 'capture' || (node.t === 'sequence' && node.items.length > 0)) {
    node = node.t === 'capture' ? node.body : node.items[0]!;
  }
  if (node.t !== 'repeat' || node.max !== Number.POSITIVE_INFINITY || node.mode === 'possessive' || node.body.t !== 'set') {
    return undefined;
  }
  return includesSet(node.body.set, fullSet()) ? 'subject' : includesSet(node.body.set, notNewline) ? 'line' : undefined;
}

function firstBytes(root: Node): ByteSet | undefined {
  return nullable(root) ? undefined : costOf(root, 1).first;
}

/** The longest subject within the step budget; without bound where the steps grow no faster than the subject. */
function longestSafe(root: Node, anchored: boolean): number {
  const everywhere = !anchored && !isAnchored(root);
  const steps = (length: number) => (everywhere ? length + 1 : 1) * (costOf(root, length).steps + 1);
  if (steps(65536) < 20 * steps(4096)) {
    return Number.POSITIVE_INFINITY;
  }
  let length = 8192;
  while (length > 16 && !(steps(length) <= stepBudget)) {
    length = Math.floor(length * 0.75);
  }
  return length > 16 ? length : -1;
}
