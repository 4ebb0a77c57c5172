import { type Address, parseAddressPort } from '../../shared/address/address.js';
import { type Cidr, CidrSet } from './cidr.js';

/** Who sent something: an address, or 'unix' for the other end of a UNIX-domain socket. */
export type PeerAddress = Address | 'unix';

/** The proxies whose word about their clients is taken. */
export class TrustedPeers {
  readonly #networks: CidrSet;
  readonly #unix: boolean;

  constructor(networks: readonly Pick<Cidr, 'first' | 'last'>[], unix: boolean) {
    this.#networks = new CidrSet(networks);
    this.#unix = unix;
  }

  /** nginx: ngx_cidr_match. */
  has(peer: PeerAddress): boolean {
    return peer === 'unix' ? this.#unix : this.#networks.has(peer);
  }
}

/** A client's address as a proxy names it; the port is 0 where none is named. */
export interface Forwarded {
  readonly address: Address;
  readonly port: number;
}

/**
 * Follows the addresses of headers such as X-Forwarded-For from the last one back, as long as the sender of each is trusted;
 * without `recursive` one step only. Returns undefined when not even the peer is trusted or nothing can be read
 * (nginx: ngx_http_get_forwarded_addr). `headers` are the values in the order they were sent.
 */
export function forwardedAddress(
  peer: PeerAddress,
  headers: readonly string[],
  trusted: TrustedPeers,
  recursive: boolean,
): Forwarded | undefined {
  let found: Forwarded | undefined;
  for (let i = headers.length - 1; i >= 0; i--) {
    const text = headers[i]!;
    let end = text.length;
    do {
      if (!trusted.has(found?.address ?? peer)) {
        return found;
      }
      while (end > 1 && isSeparator(text, end - 1)) {
        end--;
      }
      let start = end - 1;
      while (start > 0 && !isSeparator(text, start)) {
        start--;
      }
      if (start > 0) {
        start++;
      }
      const next = parseAddressPort(text.slice(Math.max(start, 0), Math.max(end, 0)));
      if (next === undefined) {
        return found;
      }
      found = next;
      end = start - 1;
    } while (recursive && end >= 0);
    if (!recursive) {
      break;
    }
  }
  return found;
}

function isSeparator(text: string, at: number): boolean {
  const c = text.charCodeAt(at);
  return c === 0x20 || c === 0x2c;
}
