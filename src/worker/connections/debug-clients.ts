import { parseAddress, parseWritten } from '../../shared/address/address.js';
import { type Cidr, CidrSet } from '../address/cidr.js';

/** What a `debug_connection` names: an address or network, a host by its addresses, or all clients of UNIX-domain sockets. */
export type DebugRule = Cidr | { readonly addresses: readonly string[] } | 'unix';

/** Tells which clients have all their lines logged, whatever the level of the log. nginx: ngx_debug_accepted_connection. */
export class DebugClients {
  readonly #networks: CidrSet;
  readonly #unix: boolean;

  constructor(rules: readonly DebugRule[]) {
    this.#unix = rules.includes('unix');
    this.#networks = new CidrSet(
      rules.flatMap((rule) => {
        if (rule === 'unix') {
          return [];
        }
        if (!('addresses' in rule)) {
          return [rule];
        }
        return rule.addresses.map(parseAddress).flatMap((address) => (address === undefined ? [] : [{ first: address, last: address }]));
      }),
    );
  }

  /** `address` is that of the peer, `unix:` for a UNIX-domain socket. */
  match(address: string): boolean {
    if (address === 'unix:') {
      return this.#unix;
    }
    const parsed = parseWritten(address);
    return parsed !== undefined && this.#networks.has(parsed);
  }
}
