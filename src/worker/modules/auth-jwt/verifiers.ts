import type { KeySet } from '../../jose/key-set.js';
import { type TokenType, TokenVerifier } from '../../jose/token-verifier.js';

/** By the first of their sets: locations that have the same keys remember the same tokens, for as long as the keys are in use. */
const verifiers = new WeakMap<KeySet, TokenVerifier[]>();

/** How many verifiers one set may be the first of: with variables in names of files, sets come together in many ways. */
const MAX_EACH = 16;

/** The verifier for these sets of keys, which may be none. */
export function verifierOf(sets: readonly KeySet[], type: TokenType): TokenVerifier {
  const [first] = sets;
  if (first === undefined) {
    return new TokenVerifier([], type);
  }
  let list = verifiers.get(first);
  if (list === undefined) {
    verifiers.set(first, (list = []));
  }
  let verifier = list.find((one) => verifies(one, sets, type));
  if (verifier === undefined) {
    verifier = new TokenVerifier([...sets], type);
    list.unshift(verifier);
    list.length = Math.min(list.length, MAX_EACH);
  }
  return verifier;
}

/** Whether a verifier is the one for these sets. */
export function verifies(verifier: TokenVerifier, sets: readonly KeySet[], type: TokenType): boolean {
  const its = verifier.sets;
  if (verifier.type !== type || its.length !== sets.length) {
    return false;
  }
  for (let i = 0; i < sets.length; i++) {
    if (its[i] !== sets[i]) {
      return false;
    }
  }
  return true;
}
