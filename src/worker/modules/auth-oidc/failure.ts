/**
 * Why something asked of a provider did not come about.
 *
 * - `unreachable`: there was no answer, or one that says that the provider has trouble
 * - `refused`: the provider says no, with an error code of OAuth
 * - `invalid`: the answer is not to be trusted
 */
export type FailureKind = 'unreachable' | 'refused' | 'invalid';

/** What failed at a provider, in words for the error log. */
export class ProviderFailure extends Error {
  readonly kind: FailureKind;
  /** An error code of OAuth, such as `invalid_grant`; empty where there is none. */
  readonly code: string;

  constructor(kind: FailureKind, message: string, code = '') {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}
