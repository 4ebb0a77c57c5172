import type { GroupName, LookNode, RegexNode } from './ast.js';
import { RegexError } from './regex-error.js';

/** The options that `(?imsxnUJ)` switch; they hold until the end of the group they stand in. */
export interface Options {
  readonly caseless: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
  readonly extended: boolean;
  /** (?xx): blanks inside a class are ignored as well. */
  readonly extendedMore: boolean;
  readonly ungreedy: boolean;
  readonly noAutoCapture: boolean;
  readonly duplicateNames: boolean;
}

interface Reference {
  readonly name: string | undefined;
  readonly groups: number[];
  readonly at: number;
}

/** The place in the pattern and what was learned so far: shared by the parts of the parser. */
export class ParserState {
  readonly pattern: string;
  at = 0;
  options: Options;
  groupCount = 0;
  /** Depth of parentheses, and of lookarounds among them. */
  depth = 0;
  lookDepth = 0;
  readonly names: GroupName[] = [];
  readonly lookbehinds: { readonly node: LookNode; readonly at: number }[] = [];
  /** Parses alternatives up to a closing parenthesis or the end: the way from a group back into the grammar. */
  readonly parseBody: (p: ParserState, eachBranch?: () => void) => RegexNode;
  readonly #references: Reference[] = [];
  readonly #late: { readonly text: string; readonly at: number }[] = [];

  constructor(pattern: string, options: Options, parseBody: ParserState['parseBody']) {
    this.pattern = pattern;
    this.options = options;
    this.parseBody = parseBody;
  }

  get ended(): boolean {
    return this.at >= this.pattern.length;
  }

  /** The character at the current place, '' at the end. */
  peek(ahead = 0): string {
    return this.pattern.charAt(this.at + ahead);
  }

  startsWith(text: string): boolean {
    return this.pattern.startsWith(text, this.at);
  }

  /** Steps over `text` if it comes next. */
  take(text: string): boolean {
    if (this.startsWith(text)) {
      this.at += text.length;
      return true;
    }
    return false;
  }

  /** Steps over what a sticky expression matches here and returns it, '' included. */
  takeRun(sticky: RegExp): string {
    sticky.lastIndex = this.at;
    const run = sticky.exec(this.pattern)?.[0] ?? '';
    this.at += run.length;
    return run;
  }

  fail(text: string, at = this.at): never {
    throw new RegexError(text, at);
  }

  /** Notes a fault that PCRE2 finds only once the whole pattern is read: a syntax error further on comes first. */
  failLater(text: string, at: number): void {
    this.#late.push({ text, at });
  }

  addName(name: string, index: number, at: number): void {
    for (const other of this.names) {
      if (other.name === name) {
        if (other.index === index) {
          return;
        }
        if (!this.options.duplicateNames) {
          this.fail('two named subpatterns have the same name (PCRE2_DUPNAMES not set)', at);
        }
      } else if (other.index === index) {
        this.fail('different names for subpatterns of the same number are not allowed', at);
      }
    }
    this.names.push({ name, index });
  }

  /** Notes a reference to a group that may be defined later; the returned list is filled in by resolve(). */
  refer(target: number | string, at: number): number[] {
    const groups = typeof target === 'number' ? [target] : [];
    this.#references.push({ name: typeof target === 'string' ? target : undefined, groups, at });
    return groups;
  }

  /** Checks what can be checked only once the whole pattern is read. */
  resolve(): void {
    for (const { name, groups, at } of this.#references) {
      if (name !== undefined) {
        for (const known of this.names) {
          if (known.name === name) {
            groups.push(known.index);
          }
        }
      }
      if (groups.length === 0 || groups[0]! > this.groupCount) {
        this.failLater('reference to non-existent subpattern', at);
      }
    }
    const first = this.#late.sort((a, b) => a.at - b.at)[0];
    if (first !== undefined) {
      this.fail(first.text, first.at);
    }
  }
}
