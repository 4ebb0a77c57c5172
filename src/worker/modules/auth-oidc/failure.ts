import { byteText } from '../../../shared/text/native-text.js';

/**
 * Why something asked of a provider did not come about.
 *
 * - `unreachable`: there was no answer, or one that says that the provider has trouble
 * - `refused`: the provider says no, with an error code of OAuth
 * - `invalid`: the answer is not to be trusted
 */
export type FailureKind = 'unreachable' | 'refused' | 'invalid';

/** The longest text of a stranger that a line of the log shows, in characters. */
const MAX_SHOWN = 400;

/** A text that a user or a provider chose, for one line of the log. */
export function chosenText(text: string): string {
  const line = byteText(text.slice(0, MAX_SHOWN)).replace(/[\x00-\x1f\x7f]/g, ' ');
  return text.length > MAX_SHOWN ? `${line}...` : line;
}

/** What failed at a provider, in words for the error log. */
export class ProviderFailure extends Error {
  readonly kind: FailureKind;
  /** An error code of OAuth, such as `invalid_grant`; empty where there is none. */
  readonly code: string;

  constructor(kind: FailureKind, message: string, code = '') {
    super(chosenText(message));
    this.kind = kind;
    this.code = code;
  }
}
