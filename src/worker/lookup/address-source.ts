import type { Address } from '../../shared/address/address.js';
import type { TrustedPeers } from '../address/forwarded-address.js';

/** Where look-ups by address take a client's address from. */
export interface AddressSource<R> {
  /** The client's address as text; one that is no IP address counts as 255.255.255.255. */
  client(r: R): string;
  /** Replaces an address by the one that trusted proxies forward; absent where there is no such thing. */
  forwarded?(r: R, address: Address, proxies: TrustedPeers, recursive: boolean): Address;
}
