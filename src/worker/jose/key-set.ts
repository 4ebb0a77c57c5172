import { isObject, type JsonObject, parseObject } from './json.js';
import { type Key, type KeyUse, readKey } from './key.js';

/** How many keys a set may have. */
const MAX_KEYS = 1000;
/** How many keys are tried for one token: each costs a verification, and a token that names none of them may come from anybody. */
const MAX_TRIES = 16;

/** The keys of a JSON Web Key Set. */
export class KeySet {
  readonly keys: readonly Key[];
  /** Why some of the keys cannot be used, one sentence each. */
  readonly complaints: readonly string[];

  constructor(keys: readonly Key[], complaints: readonly string[]) {
    this.keys = keys;
    this.complaints = complaints;
  }
}

/** Reads a JSON Web Key Set, or one key by itself. Keys that cannot be used are left out; a text says why there is no set at all. */
export function readKeySet(bytes: Buffer): KeySet | string {
  const object = parseObject(bytes);
  if (object === undefined) {
    return 'it is not well-formed JSON';
  }
  const list = object.has('kty') ? [object] : object.get('keys');
  if (!Array.isArray(list)) {
    return 'it has no "keys"';
  }
  if (list.length > MAX_KEYS) {
    return `it has more than ${MAX_KEYS} keys`;
  }
  const keys: Key[] = [];
  const complaints: string[] = [];
  for (const [i, members] of list.entries()) {
    const key = isObject(members) ? readKey(members) : 'it is no object';
    if (typeof key === 'string') {
      complaints.push(`key ${i + 1} is not used: ${key}`);
    } else {
      keys.push(key);
    }
  }
  return new KeySet(keys, complaints);
}

/**
 * The keys that a token may have been made with: those of the name that its header gives, else those without a name; without a name in the
 * header all. `fits` says whether a key is of the right kind for the algorithm.
 */
export function candidates(sets: readonly KeySet[], header: JsonObject, use: KeyUse, fits: (key: Key) => boolean): readonly Key[] {
  const id = header.get('kid');
  const named: Key[] = [];
  const nameless: Key[] = [];
  for (const { keys } of sets) {
    for (const key of keys) {
      if ((id === undefined || key.id === undefined || key.id === id) && key.mayBeUsedFor(use) && fits(key)) {
        (id !== undefined && key.id === undefined ? nameless : named).push(key);
      }
    }
  }
  return (named.length > 0 ? named : nameless).slice(0, MAX_TRIES);
}
