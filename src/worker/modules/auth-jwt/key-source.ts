import type { Request } from '../../http/request/request.js';
import type { KeySet } from '../../jose/key-set.js';
import type { Status } from '../../task/codes.js';

/** Where the keys of a location come from. */
export interface KeySource {
  /**
   * The keys that hold for this request, or the status to answer with, which has been logged then. Undefined: they must be waited for.
   */
  now(r: Request): KeySet | Status | undefined;
  /** The keys that were had last, for variables that are asked for before the access phase. */
  recent(r: Request): KeySet | undefined;
  /** Gets the keys, and calls back later unless the request ends before. Returns a status when that cannot even begin. */
  fetch(r: Request, done: (result: KeySet | Status) => void): Status | undefined;
  /** Newer keys may fit a token that none of these fits: gets them as {@link fetch} does. False when there is no point in it. */
  renew?(r: Request, done: () => void): boolean;
}
