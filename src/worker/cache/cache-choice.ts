import type { ComplexValue } from '../../shared/value/complex.js';
import type { ZoneRef } from '../../shared/zone/kind.js';
import type { Request } from '../http/request/request.js';
import type { CacheDef } from './cache-def.js';
import type { CacheIndex } from './index-zone.js';

/** Where responses are kept: one cache, or the one that a value names. */
export type CacheChoice = { readonly zone: ZoneRef<CacheIndex, CacheDef> } | { readonly name: ComplexValue<Request> };
