import { lowerAscii } from '../text/ascii-case.js';
import type { DnsRecord } from './message.js';

/** Why a name could not be resolved, as DNS numbers it; TIMED_OUT is errno's. nginx: NGX_RESOLVE_*. */
export const RESOLVE = { OK: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5, TIMED_OUT: 110 } as const;

/** nginx: ngx_resolver_strerror. */
export function resolveErrorText(state: number): string {
  switch (state) {
    case RESOLVE.FORMERR:
      return 'Format error';
    case RESOLVE.SERVFAIL:
      return 'Server failure';
    case RESOLVE.NXDOMAIN:
      return 'Host not found';
    case RESOLVE.NOTIMP:
      return 'Unimplemented';
    case RESOLVE.REFUSED:
      return 'Operation refused';
    case RESOLVE.TIMED_OUT:
      return 'Operation timed out';
    default:
      return 'Unknown error';
  }
}

/** A name as it is asked for, and called in messages. nginx: ngx_resolve_name. */
export function askedName(name: string): string {
  return lowerAscii(name.endsWith('.') ? name.slice(0, -1) : name);
}

/** The addresses of a name, or why there are none. `validUntil` is milliseconds of the wall clock. */
export interface Resolved {
  readonly state: number;
  readonly addresses: readonly string[];
  readonly validUntil: number;
}

/** What DNS itself says of a name: addresses, or SRV records. */
export interface ResolvedName extends Resolved {
  readonly services: readonly DnsRecord[];
}

/** A target of an SRV record with its addresses. */
export interface ResolvedService {
  readonly host: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
  readonly addresses: readonly string[];
}

export interface ResolvedServices {
  readonly state: number;
  readonly services: readonly ResolvedService[];
  /** Targets without addresses, and why. */
  readonly failures: readonly { readonly host: string; readonly state: number }[];
  readonly validUntil: number;
}

/** Looks names up in DNS. */
export interface Resolver {
  /** Calls back once, perhaps at once. Returns what gives the wait up. */
  resolve(name: string, timeoutMs: number, done: (result: Resolved) => void): () => void;
  /** Looks SRV records up, and the addresses of their targets. */
  resolveService(service: string, host: string, timeoutMs: number, done: (result: ResolvedServices) => void): () => void;
}
