import { type CompiledRegex, matchFailure } from '../regex/compile.js';
import type { Subject } from './subject.js';
import type { VariableTable } from './variables.js';

/** A regular expression of the configuration, bound to the variables its named groups fill. */
export interface RegexValue<R> {
  readonly pattern: string;
  readonly captures: number;
  /** Matches, and on success keeps captures and named groups on the subject. nginx: ngx_http_regex_exec. */
  exec(r: R, text: string): boolean;
  /** Matches without keeping anything; a match that gave up is logged. */
  test(r: R, text: string): boolean;
  /** Whether the last call gave up instead of finding out; exec() has logged it then, and the request ends with 500. */
  readonly failed: boolean;
}

/** Binds a compiled expression to a variable table. Returns undefined when a named group may not be a variable. */
export function bindRegex<R extends Subject>(regex: CompiledRegex, table: VariableTable<R>, pattern: string): RegexValue<R> | string {
  const names: NamedGroup[] = [];
  for (const { name, index } of regex.names) {
    if (!table.define({ name, changeable: true, weak: true, get: () => undefined })) {
      return name;
    }
    names.push({ slot: table.slot(name), index });
  }
  return new BoundRegex(regex, table, names, pattern);
}

interface NamedGroup {
  readonly slot: number;
  readonly index: number;
}

class BoundRegex<R extends Subject> implements RegexValue<R> {
  readonly pattern: string;
  readonly #regex: CompiledRegex;
  readonly #table: VariableTable<R>;
  readonly #names: readonly NamedGroup[];

  constructor(regex: CompiledRegex, table: VariableTable<R>, names: readonly NamedGroup[], pattern: string) {
    this.pattern = pattern;
    this.#regex = regex;
    this.#table = table;
    this.#names = names;
  }

  get captures(): number {
    return this.#regex.captures;
  }

  get failed(): boolean {
    return this.#regex.error !== 0;
  }

  test(r: R, text: string): boolean {
    const regex = this.#regex;
    const found = regex.test(text, r);
    if (!found && regex.error !== 0) {
      this.#table.regexFailed(r, matchFailure(regex, text));
    }
    return found;
  }

  exec(r: R, text: string): boolean {
    const regex = this.#regex;
    const found = regex.exec(text, r);
    if (found === null) {
      if (regex.error !== 0) {
        this.#table.regexFailed(r, matchFailure(regex, text));
      }
      return false;
    }
    r.captures = found;
    const names = this.#names;
    for (let i = 0; i < names.length; i++) {
      const { slot, index } = names[i]!;
      const value = found[index];
      // A name may stand for several groups; one that took part wins over one that did not.
      if (value !== undefined || i === 0 || names[i - 1]!.slot !== slot) {
        r.vars[slot] = value ?? '';
      }
    }
    return true;
  }
}
