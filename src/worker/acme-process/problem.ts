/** What a CA answers when it refuses something (RFC 8555, section 6.7). */
export class AcmeProblem extends Error {
  readonly status: number;
  /** Such as `rateLimited`; empty when the answer is no problem document. */
  readonly type: string;
  /** Milliseconds that the CA asks to wait. */
  readonly retryAfter: number | undefined;

  /** `type` is a URN. */
  constructor(status: number, type: string, detail: string, retryAfter: number | undefined) {
    const short = caWords(type.replace(PREFIX, ''));
    super(short === '' ? `unexpected status code ${status} in response` : `${short}: ${caWords(detail)}`);
    this.status = status;
    this.type = short;
    this.retryAfter = retryAfter;
  }

  /** The CA has had enough for now: of this order, or of everything. */
  get limited(): boolean {
    return this.status === 429 || this.type === 'rateLimited' || (this.status === 503 && this.retryAfter !== undefined);
  }

  /** The request may have better luck soon. */
  get passing(): boolean {
    return this.status >= 500;
  }

  /** Nothing but another configuration helps. nginx-acme: is_bad_account, is_bad_order. */
  get final(): boolean {
    return FINAL.has(this.type);
  }

  /** The certificate that the order is to replace may be what the CA objects to. nginx-acme: is_bad_replaces. */
  get mayMeanReplaces(): boolean {
    return !this.passing && !this.limited && !ELSEWHERE.has(this.type);
  }
}

/** The CA cannot be reached, or is not who it should be. */
export class Unreachable extends Error {}

const PREFIX = /^urn:ietf:params:acme:error:/;

const FINAL = new Set([
  'accountDoesNotExist',
  'badPublicKey',
  'badSignatureAlgorithm',
  'externalAccountRequired',
  'invalidContact',
  'malformed',
  'unsupportedContact',
  'userActionRequired',
  'badCSR',
  'caa',
  'invalidProfile',
  'rejectedIdentifier',
  'unsupportedIdentifier',
]);

const ELSEWHERE = new Set(['badNonce', 'caa', 'invalidProfile', 'rejectedIdentifier', 'unsupportedIdentifier', 'userActionRequired']);

/** A CA's words, as they may stand in a log: bytes of UTF-8, one a character. */
export const caWords = (text: unknown): string =>
  Buffer.from(String(text ?? ''))
    .toString('latin1')
    .replace(/[\x00-\x1f\x7f]+/g, ' ')
    .slice(0, 500);

/** What a CA says of an order or a challenge that came to nothing; empty when it says nothing. */
export function complaint(error: { readonly type?: string; readonly detail?: string } | undefined): string {
  return error?.type === undefined ? '' : caWords(`${error.type.replace(PREFIX, '')}: ${error.detail ?? ''}`);
}
