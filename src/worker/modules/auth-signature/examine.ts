import type { Request } from '../../http/request/request.js';
import type { Status } from '../../task/codes.js';
import { isSignedBy } from './algorithm.js';
import { ComponentValues, covers } from './components.js';
import { keysNamed } from './key-choice.js';
import { ClientMessage, type SignedMessage } from './message.js';
import { BODY, type SignatureSettings } from './settings.js';
import { readSignatures, type Signature, signatureBase } from './signature.js';

/** A signature that is right. Whether the body is the one that was signed, and the nonce a fresh one, is not said yet. */
export interface Signed {
  readonly signature: Signature;
  /** The body must have the digest that was signed. */
  readonly coversBody: boolean;
  readonly message: SignedMessage;
}

/** What comes of a look at the signatures of a request; a text says why none is right, a status why none could be looked at. */
export type Examined = Signed | string | Status;

export const NO_SIGNATURE = 'no signature was provided';

/** Whether a request has a body, or one is announced. */
const hasBody = ({ main: { body, contentLength, chunkedIn } }: Request): boolean =>
  body === null ? contentLength > 0 || chunkedIn : body.length > 0 || body.lost;

/** Looks for a signature that is right, without a look at the body. `now`: seconds since 1970. */
export function examine(r: Request, conf: Readonly<SignatureSettings>, now: number): Examined {
  const message = new ClientMessage(r);
  const signatures = readSignatures(message);
  if (typeof signatures === 'string') {
    return signatures;
  }
  const values = new ComponentValues(message);
  const { tag } = conf;
  let reason = signatures.length === 0 ? NO_SIGNATURE : 'no signature has the tag that is asked for';
  for (const signature of signatures) {
    if (tag !== undefined && signature.tag !== tag) {
      continue;
    }
    const refusal = untimely(signature, conf, now) ?? lacking(r, signature, conf) ?? unsigned(r, values, signature, conf);
    if (refusal === undefined) {
      return { signature, coversBody: covers(signature.components, BODY), message };
    }
    if (typeof refusal === 'number') {
      return refusal;
    }
    reason = refusal;
  }
  return reason;
}

function untimely({ created, expires }: Signature, { maxAge, leeway }: Readonly<SignatureSettings>, now: number): string | undefined {
  if (created === undefined) {
    return 'it does not say when it was created';
  }
  const tolerance = leeway / 1000;
  if (created > now + tolerance) {
    return 'it was created in the future';
  }
  return now >= created + maxAge / 1000 + tolerance || (expires !== undefined && now >= expires + tolerance) ? 'it has expired' : undefined;
}

function lacking(r: Request, { components, nonce, keyid }: Signature, conf: Readonly<SignatureSettings>): string | undefined {
  for (const name of conf.components) {
    if (!covers(components, name) && (name !== BODY || hasBody(r))) {
      return `it does not cover "${name}"`;
    }
  }
  if (conf.nonces !== undefined && nonce === '') {
    return 'it has no nonce';
  }
  return keyid === '' ? 'it names no key' : undefined;
}

function unsigned(
  r: Request,
  values: ComponentValues,
  signature: Signature,
  conf: Readonly<SignatureSettings>,
): string | Status | undefined {
  const keys = keysNamed(r, conf, signature.keyid);
  if (typeof keys === 'number') {
    return keys;
  }
  if (keys.length === 0) {
    return 'its key is not known';
  }
  const text = signatureBase(values, signature);
  if (typeof text === 'string') {
    return text;
  }
  return keys.some((key) => isSignedBy(key, signature.algorithm, text.base, signature.bytes)) ? undefined : 'it is wrong';
}
