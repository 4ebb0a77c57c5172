/**
 * What is wrong with a regular expression, in PCRE2's words, and where: `at` is the offset PCRE2 10.42 reports, the length
 * of the pattern when nothing more specific is known.
 */
export class RegexError extends Error {
  readonly at: number;

  constructor(text: string, at: number) {
    super(text);
    this.at = at;
  }
}
