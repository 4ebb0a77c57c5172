import type { ComplexValue } from '../../../shared/value/complex.js';
import { LocationSlot } from '../../task/settings-slot.js';
import type { Request } from './request.js';

/** What a location's documents are, and who gets them. */
export interface DocumentSettings {
  root: ComplexValue<Request>;
  /**
   * Not 0: `root` holds an `alias`, which replaces that many characters at the start of the URI instead of standing
   * before it; -1 in a regular expression's location: it replaces the whole URI.
   */
  alias: number;
  types: ReadonlyMap<string, string>;
  defaultType: string;
  etag: boolean;
  ifModifiedSince: 'off' | 'exact' | 'before';
  internal: boolean;
  satisfy: 'all' | 'any';
  /** How long, in milliseconds, a 401 or 407 is held back. */
  authDelay: number;
  logNotFound: boolean;
  logSubrequest: boolean;
  serverTokens: ComplexValue<Request>;
}

export const documentSlot = new LocationSlot<Readonly<DocumentSettings>>();
