import { type CompiledRegex, compileRegex } from '../regex/compile.js';
import { type ComplexValue, constantValue } from '../value/complex.js';
import type { Subject } from '../value/subject.js';

/** As many texts are remembered; where there are more, they are probably all different. */
const MANY_TEXTS = 10_000;

/** What directives of one configuration may share, because it depends on nothing but its text. */
export class SharedValues<R extends Subject> {
  readonly #constants = new Map<string, ComplexValue<R>>();
  readonly #regexes = new Map<string, CompiledRegex>();

  /** A value without variables: those of a map with a hundred thousand entries are often the same few. */
  constant(text: string): ComplexValue<R> {
    let value = this.#constants.get(text);
    if (value === undefined) {
      value = constantValue(text);
      if (this.#constants.size < MANY_TEXTS) {
        this.#constants.set(text, value);
      }
    }
    return value;
  }

  /** A regular expression: thousands of servers may have the same few. Throws an Error that says what is wrong with it. */
  regex(pattern: string, caseless: boolean): CompiledRegex {
    const key = `${caseless ? '*' : '-'}${pattern}`;
    let compiled = this.#regexes.get(key);
    if (compiled === undefined) {
      compiled = compileRegex(pattern, { caseless });
      this.#regexes.set(key, compiled);
    }
    return compiled;
  }
}
