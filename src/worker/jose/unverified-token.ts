import { decodeBase64url } from './base64url.js';
import { type JsonObject, parseObject } from './json.js';
import { MAX_TOKEN } from './jws.js';

/** What a token says before anybody has looked whether it is right. */
export interface TokenText {
  readonly header: JsonObject;
  /** Of an encrypted token: nothing. */
  readonly claims: JsonObject;
}

/** Reads what a token says of itself, for the choice of the keys to verify it with and for nothing else. */
export function readUnverified(token: string): TokenText {
  const parts = token.length > MAX_TOKEN ? [] : token.split('.', 6);
  return { header: objectOf(parts[0]), claims: parts.length === 3 ? objectOf(parts[1]) : new Map() };
}

function objectOf(encoded: string | undefined): JsonObject {
  const bytes = encoded === undefined ? undefined : decodeBase64url(encoded);
  return (bytes === undefined ? undefined : parseObject(bytes)) ?? new Map();
}
