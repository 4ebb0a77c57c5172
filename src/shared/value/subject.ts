import type { MatchPayer } from '../regex/compile.js';

/** What variables and captures are kept on: a request, or a stream session. */
export interface Subject extends MatchPayer {
  /** Memo by variable slot: undefined is not evaluated yet, null is "not found". */
  readonly vars: (string | null | undefined)[];
  /** Captures of the latest regular expression that matched; [0] is the whole match. */
  captures: readonly (string | undefined)[] | null;
  /** Slots whose values scripts have given, though the variables are computed anew each time otherwise. */
  pinned?: Set<number>;
  /** How deep variables are being evaluated inside each other. */
  evaluating: number;
}
