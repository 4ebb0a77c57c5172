import type { MatchPayer } from '../regex/compile.js';
import type { ComplexValue as Complex } from './complex.js';

/** What variables and captures are kept on: a request, or a stream session. */
export interface Subject extends MatchPayer {
  /** Memo by variable slot: undefined is not evaluated yet, null is "not found". */
  readonly vars: (string | null | undefined)[];
  /** Captures of the latest regular expression that matched; [0] is the whole match. */
  captures: readonly (string | undefined)[] | null;
  /** How deep variables are being evaluated inside each other. */
  evaluating: number;
}

export type ComplexValue<R> = Complex<R>;
export type { RegexValue } from './regex-value.js';
export type { Variable } from './variables.js';
export { VariableTable } from './variables.js';
