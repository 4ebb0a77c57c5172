import type { GroupName, RegexNode } from './ast.js';
import { emitJs } from './emit-js.js';
import { Matcher } from './matcher.js';
import { type ParsedRegex, parseRegex } from './parse.js';
import { maxProgramSize, programSize } from './program.js';
import { RegexError } from './regex-error.js';
import { leadingRun, longestSafe } from './safe-length.js';
import { some } from './tree.js';

/** A match: the matched text and each group's, undefined where a group is not set. */
export type RegexMatch = readonly (string | undefined)[];

/** Who pays for matching: what one request may spend on all its matches together, so that none holds a worker up. */
export interface MatchPayer {
  /** Steps that are left; {@link requestSteps} to begin with. */
  matchSteps: number;
}

/**
 * Steps that the matches of one request may take; some 20 ms, in the first match of a process 40. Only work that grows faster than
 * the subject is counted.
 */
export const requestSteps = 500_000;

/** A regular expression with PCRE's meaning over latin1 strings. */
export interface CompiledRegex {
  readonly pattern: string;
  /** Number of capturing groups. */
  readonly captures: number;
  /** Named groups in the order of their names, as in PCRE's name table. */
  readonly names: readonly GroupName[];
  /** 0, or PCRE2's error when the last call gave up since its payer had no steps left: -47, the match limit. See matchFailure(). */
  readonly error: number;
  test(subject: string, payer: MatchPayer): boolean;
  /** Returns null when there is no match, and when `error` is set. */
  exec(subject: string, payer: MatchPayer): RegexMatch | null;
}

/** PCRE2_ERROR_MATCHLIMIT */
const matchLimitError = -47;

/** What a match may take of the matcher's steps when nothing is left, so that an error page can still be found. */
const leastSteps = 10_000;

/** What RegExp costs on the longest subject it is trusted with, in the matcher's steps. Work grows with the square at least. */
const longestPrice = 100_000;

/** Subjects shorter than the longest by this factor cost RegExp some microseconds, and nobody counts them. */
const freeBelow = 8;

/** nginx: NGX_MAX_CONF_ERRSTR */
const maxErrorLength = 1024;

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
  readonly #root: RegexNode;
  /** The longest subject that RegExp is trusted with. */
  #limit = -1;
  /** The longest that it is given for nothing. */
  #free = -1;
  #prepared = false;
  #newlines = NOWHERE;
  #quick: RegExp | undefined = undefined;
  #exact: RegExp | undefined = undefined;
  #matcher: Matcher | undefined = undefined;

  constructor(pattern: string, parsed: ParsedRegex) {
    this.pattern = pattern;
    this.captures = parsed.captures;
    this.names = parsed.names;
    this.#root = parsed.root;
  }

  test(subject: string, payer: MatchPayer): boolean {
    if (subject.length <= this.#free) {
      this.error = 0;
      return this.#regexFor(subject).test(subject);
    }
    return this.#carefully(subject, payer) !== null;
  }

  exec(subject: string, payer: MatchPayer): RegexMatch | null {
    if (subject.length <= this.#free) {
      this.error = 0;
      return this.#regexFor(subject).exec(subject);
    }
    return this.#carefully(subject, payer);
  }

  #regexFor(subject: string): RegExp {
    if (this.#newlines === NOWHERE) {
      return this.#quick!;
    }
    const newline = this.#newlines === AT_THE_END ? subject.charCodeAt(subject.length - 1) === 10 : subject.includes('\n');
    return newline ? (this.#exact ??= translate(this.#root, true)!) : this.#quick!;
  }

  #carefully(subject: string, payer: MatchPayer): RegexMatch | null {
    if (!this.#prepared) {
      this.#prepared = true;
      this.#prepare();
      return this.exec(subject, payer);
    }
    if (subject.length <= this.#limit) {
      const price = Math.ceil(longestPrice * (subject.length / this.#limit) ** 2);
      if (price <= payer.matchSteps) {
        payer.matchSteps -= price;
        this.error = 0;
        return this.#regexFor(subject).exec(subject);
      }
    }
    this.#matcher ??= new Matcher(this.#root, this.captures);
    const allowed = Math.max(payer.matchSteps, leastSteps);
    const match = this.#matcher.exec(subject, allowed);
    payer.matchSteps = Math.max(0, payer.matchSteps - (allowed - this.#matcher.left));
    this.error = this.#matcher.exhausted ? matchLimitError : 0;
    return match;
  }

  /** Translates on first use: a configuration may hold hundreds of patterns that are never tried. */
  #prepare(): void {
    this.#quick = translate(this.#root, false);
    if (this.#quick === undefined) {
      return;
    }
    const leading = leadingRun(this.#root);
    if (leading === 'line') {
      this.#newlines = ANYWHERE;
    } else if (some(this.#root, (node) => node.t === 'assert' && node.kind === 'endOrNewline')) {
      this.#newlines = AT_THE_END;
    }
    this.#limit = longestSafe(this.#root, leading !== undefined);
    this.#free = this.#limit / freeBelow;
  }
}

/** Returns a RegExp for subjects without or with newlines, or undefined where only the matcher is exact. */
function translate(root: RegexNode, newlines: boolean): RegExp | undefined {
  const source = emitJs(root, newlines);
  if (source === undefined) {
    return undefined;
  }
  const leading = leadingRun(root);
  const prefix = leading === undefined ? '' : leading === 'line' && newlines ? '(?<![^\\n])' : '^';
  try {
    const regex = new RegExp(prefix + source);
    // The first call compiles to bytecode, the second to machine code; either may find the pattern too large.
    regex.test('');
    regex.test('');
    return regex;
  } catch {
    return undefined;
  }
}
