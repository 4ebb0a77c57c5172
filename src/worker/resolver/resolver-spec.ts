import type { HostRef } from '../../shared/config/define.js';

/** What a `resolver` line says. */
export interface ResolverSpec {
  readonly servers: readonly { readonly addresses: HostRef | readonly string[]; readonly port: number }[];
  /** Seconds for which answers count, instead of what they say themselves; 0: as they say. */
  readonly valid: number;
  readonly ipv4: boolean;
  readonly ipv6: boolean;
  /** Where its numbers are shown; empty for nowhere. */
  readonly statusZone: string;
}
