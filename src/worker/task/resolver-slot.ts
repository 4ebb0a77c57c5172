import type { Resolver } from '../resolver/resolver.js';
import { LocationSlot } from './settings-slot.js';

/** How names are looked up at request time. */
export interface ResolverUse {
  readonly resolver: Resolver | undefined;
  /** Milliseconds. */
  readonly resolverTimeout: number;
}

export const resolverSlot = new LocationSlot<ResolverUse>();
