import { isObject, type Json, type JsonObject, NumberText, numberOf, writeJson } from './json.js';

/** When a token holds, in seconds since 1970. */
export interface Validity {
  /** 0 for one that holds from ever. */
  readonly notBefore: number;
  /** Infinity for one that does not expire. */
  readonly expires: number;
}

/** Reads `exp` and `nbf`; a text says why they cannot be relied on. */
export function claimValidity(claims: JsonObject): Validity | string {
  const expires = claims.has('exp') ? numberOf(claims.get('exp')) : Number.POSITIVE_INFINITY;
  const notBefore = claims.has('nbf') ? numberOf(claims.get('nbf')) : 0;
  if (expires === undefined) {
    return 'its exp is no time';
  }
  return notBefore === undefined ? 'its nbf is no time' : { notBefore, expires };
}

/** Why a token does not hold now; undefined when it does. `now` and `leeway` are seconds. nginx: auth_jwt_leeway. */
export function untimely({ notBefore, expires }: Validity, now: number, leeway: number): string | undefined {
  if (now >= expires + leeway) {
    return 'it has expired';
  }
  return now < notBefore - leeway ? 'it does not hold yet' : undefined;
}

/** A claim as the text of a variable: elements of arrays are separated by commas, objects are JSON. Undefined for none, and for null. */
export function claimText(value: Json | undefined): string | undefined {
  if (typeof value === 'string') {
    return value;
  }
  if (value === undefined || value === null) {
    return undefined;
  }
  if (Array.isArray(value)) {
    return value.map((element: Json) => (element === null ? 'null' : claimText(element))).join(',');
  }
  if (isObject(value)) {
    return writeJson(value);
  }
  return value instanceof NumberText ? value.text : String(value);
}

/** What a list of names leads to, from the top of an object. */
export function memberAt(object: JsonObject, path: readonly string[]): Json | undefined {
  let at: Json | undefined = object;
  for (const name of path) {
    if (!isObject(at)) {
      return undefined;
    }
    at = at.get(name);
  }
  return at;
}

/**
 * The member that a variable's name means, which is always in lower case: the one of exactly that name, else the only one that differs from
 * it in case alone.
 */
export function memberNamed(object: JsonObject, name: string): Json | undefined {
  const exact = object.get(name);
  if (exact !== undefined) {
    return exact;
  }
  let found: Json | undefined;
  for (const [other, value] of object) {
    if (other.length === name.length && other.toLowerCase() === name) {
      if (found !== undefined) {
        return undefined;
      }
      found = value;
    }
  }
  return found;
}
