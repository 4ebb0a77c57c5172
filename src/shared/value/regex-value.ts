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
  const names: { slot: number; index: number }[] = [];
  for (const { name, index } of regex.names) {
    if (!table.define({ name, changeable: true, weak: true, get: () => undefined })) {
      return name;
    }
    names.push({ slot: table.slot(name), index });
  }
  return {
    pattern,
    captures: regex.captures,
    get failed() {
      return regex.error !== 0;
    },
    test(r, text) {
      const found = regex.test(text, r);
      if (!found && regex.error !== 0) {
        table.regexFailed(r, matchFailure(regex, text));
      }
      return found;
    },
    exec(r, text) {
      const found = regex.exec(text, r);
      if (found === null) {
        if (regex.error !== 0) {
          table.regexFailed(r, matchFailure(regex, text));
        }
        return false;
      }
      r.captures = found;
      for (let i = 0; i < names.length; i++) {
        const { slot, index } = names[i]!;
        const value = found[index];
        // A name may stand for several groups; one that took part wins over one that did not.
        if (value !== undefined || i === 0 || names[i - 1]!.slot !== slot) {
          r.vars[slot] = value ?? '';
        }
      }
      return true;
    },
  };
}
