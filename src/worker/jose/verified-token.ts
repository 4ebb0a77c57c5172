import { claimValidity, untimely, type Validity } from './claims.js';
import { type JsonObject, parseObject } from './json.js';
import { verifyJws } from './jws.js';
import type { KeySet } from './key-set.js';

/** A JSON Web Token whose signature or encryption is right. Whether it holds now is for {@link VerifiedToken.refusal} to say. */
export class VerifiedToken {
  /** The outermost header. */
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** What an encrypted token holds; undefined for one that is only signed. */
  readonly payload: string | undefined;
  readonly #validity: Validity;

  constructor(header: JsonObject, claims: JsonObject, payload: string | undefined, validity: Validity) {
    this.header = header;
    this.claims = claims;
    this.payload = payload;
    this.#validity = validity;
  }

  /** This token in the envelope of an encrypted one. */
  within(header: JsonObject, payload: string): VerifiedToken {
    return new VerifiedToken(header, this.claims, payload, this.#validity);
  }

  /** Why it does not hold at a time; undefined when it does. Both are seconds. */
  refusal(now: number, leeway: number): string | undefined {
    return untimely(this.#validity, now, leeway);
  }
}

/** Makes a token of the bytes that say its claims; a text says why it is refused. `payload`: see {@link VerifiedToken.payload}. */
export function tokenOf(header: JsonObject, bytes: Buffer, payload: string | undefined): VerifiedToken | string {
  const claims = parseObject(bytes);
  if (claims === undefined) {
    return 'its claims are not well formed';
  }
  const validity = claimValidity(claims);
  return typeof validity === 'string' ? validity : new VerifiedToken(header, claims, payload, validity);
}

/** Verifies a signed token; a text says why it is refused. */
export function verifySigned(token: string, sets: readonly KeySet[]): VerifiedToken | string {
  const jws = verifyJws(token, sets);
  return typeof jws === 'string' ? jws : tokenOf(jws.header, jws.payload, undefined);
}
