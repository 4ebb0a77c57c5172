import type { ContentTypes } from '../../http/headers/content-types.js';

/** The `ssi*` directives of a location. */
export interface SsiSettings {
  enable: boolean;
  silentErrors: boolean;
  lastModified: boolean;
  valueLength: number;
  types: ContentTypes;
}
