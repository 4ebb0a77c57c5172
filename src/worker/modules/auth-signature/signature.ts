import {
  type BareItem,
  type InnerList,
  type Item,
  isInnerList,
  parseDictionary,
  writeItem,
  writeMember,
} from '../../http/syntax/structured-fields.js';
import { type ComponentValues, identityOf } from './components.js';
import type { SignedMessage } from './message.js';

/** A signature of a request as its two fields have it (RFC 9421, section 4), not verified. */
export interface Signature {
  readonly label: string;
  readonly components: readonly Item[];
  /** What it says of itself: the value of `@signature-params`. */
  readonly input: InnerList;
  readonly bytes: Buffer;
  /** Seconds since 1970; undefined where it does not say. */
  readonly created: number | undefined;
  readonly expires: number | undefined;
  /** Empty where it does not say. */
  readonly nonce: string;
  readonly algorithm: string;
  readonly keyid: string;
  readonly tag: string;
}

/** How many signatures of a request are looked at: each may cost a verification, and proxies on the way add one each. */
const MOST_SIGNATURES = 4;
/** The longest name of a key, nonce or tag, in characters. */
const MAX_TEXT = 256;
/** A signature base that is longer is not built: its parts are headers, which have bounds, but a signature may name one in many forms. */
const MAX_BASE = 128 * 1024;

/** The signatures of a request, or what is wrong with them. None at all is an empty list. */
export function readSignatures(message: SignedMessage): readonly Signature[] | string {
  const inputs = message.field('signature-input');
  const signatures = message.field('signature');
  if (inputs.length === 0 && signatures.length === 0) {
    return [];
  }
  const said = parseDictionary(inputs.join(', '));
  const values = parseDictionary(signatures.join(', '));
  if (said === undefined || values === undefined) {
    return `the field ${said === undefined ? '"Signature-Input"' : '"Signature"'} is not well formed`;
  }
  if (said.size !== values.size || said.size > MOST_SIGNATURES) {
    return said.size > MOST_SIGNATURES ? 'there are too many signatures' : '"Signature-Input" and "Signature" do not fit each other';
  }
  const found: Signature[] = [];
  for (const [label, input] of said) {
    const value = values.get(label);
    if (!isInnerList(input) || value === undefined || isInnerList(value) || value.bare.type !== 'bytes') {
      return '"Signature-Input" and "Signature" do not fit each other';
    }
    const signature = readSignature(label, input, value.bare.value);
    if (typeof signature === 'string') {
      return signature;
    }
    found.push(signature);
  }
  return found;
}

function readSignature(label: string, input: InnerList, bytes: Buffer): Signature | string {
  const identities = new Set<string>();
  for (const item of input.items) {
    const identity = identityOf(item);
    if (item.bare.type !== 'string' || item.bare.value === '@signature-params' || identities.has(identity)) {
      return identities.has(identity) ? `${identity} is covered twice` : 'a name of a component is none';
    }
    identities.add(identity);
  }
  const { parameters } = input;
  const times = (['created', 'expires'] as const).map((name) => integerOf(parameters.get(name)));
  const texts = (['nonce', 'alg', 'keyid', 'tag'] as const).map((name) => textOf(parameters.get(name)));
  if (times.includes(null) || texts.includes(null)) {
    return 'a parameter of the signature is not of its type';
  }
  const [created, expires] = times as (number | undefined)[];
  const [nonce, algorithm, keyid, tag] = texts as [string, string, string, string];
  return { label, components: input.items, input, bytes, created, expires, nonce, algorithm, keyid, tag };
}

/** Null: there is something else. */
const integerOf = (bare: BareItem | undefined): number | undefined | null =>
  bare === undefined ? undefined : bare.type === 'integer' ? bare.value : null;
const textOf = (bare: BareItem | undefined): string | null =>
  bare === undefined ? '' : bare.type === 'string' && bare.value.length <= MAX_TEXT ? bare.value : null;

const NOT_IN_BASE = /[^\t\x20-\x7e]/;

/** What was signed (RFC 9421, section 2.5), built of the request as it came; the second text says why it cannot be. */
export function signatureBase(values: ComponentValues, { components, input }: Signature): { readonly base: string } | string {
  let base = '';
  for (const component of components) {
    const identifier = writeItem(component);
    const value = values.get(component);
    if (value === undefined) {
      return `it covers ${identifier}, which the request has not`;
    }
    // Anything else could look like another line of the base.
    if (NOT_IN_BASE.test(value)) {
      return `the value of ${identifier} cannot be signed as it is`;
    }
    base += `${identifier}: ${value}\n`;
    if (base.length > MAX_BASE) {
      return 'it covers too much';
    }
  }
  return { base: `${base}"@signature-params": ${writeMember(input)}` };
}
