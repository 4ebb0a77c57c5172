import { BlockList, isIP } from 'node:net';

/** What a `debug_connection` names: an address or network, a host by its addresses, or all clients of UNIX-domain sockets. */
export type DebugRule =
  | { readonly kind: 'network'; readonly address: string; readonly bits: number }
  | { readonly kind: 'host'; readonly ref: { readonly addresses: readonly string[] } }
  | { readonly kind: 'unix' };

const family = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * Reads an address or a network; undefined when it is neither. `exact` is false when bits outside the network's mask are set.
 * nginx: ngx_ptocidr.
 */
export function parseNetwork(text: string): { readonly address: string; readonly bits: number; readonly exact: boolean } | undefined {
  const slash = text.indexOf('/');
  const address = slash < 0 ? text : text.slice(0, slash);
  const width = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  const bits = slash < 0 ? width : /^\d+$/.test(text.slice(slash + 1)) ? Number(text.slice(slash + 1)) : Number.NaN;
  if (width === 0 || !(bits <= width)) {
    return undefined;
  }
  const hostBits = (1n << BigInt(width - bits)) - 1n;
  return { address, bits, exact: (addressNumber(address) & hostBits) === 0n };
}

/** The address as a number of 32 or 128 bits. */
function addressNumber(address: string): bigint {
  const groups = (text: string): bigint[] =>
    text === ''
      ? []
      : text.split(':').flatMap((group) => {
          const bytes = group.split('.');
          const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
          return bytes.length === 4 ? [BigInt(a * 256 + b), BigInt(c * 256 + d)] : [BigInt(`0x${group}`)];
        });
  const [head = '', tail] = address.split('::');
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const gap = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array<bigint>(gap).fill(0n), ...after].reduce((number, group) => (number << 16n) | group, 0n);
}

/** Tells which clients have all their lines logged, whatever the level of the log. nginx: ngx_debug_accepted_connection. */
export class DebugClients {
  readonly #networks = new BlockList();
  readonly #unix: boolean;

  constructor(rules: readonly DebugRule[]) {
    this.#unix = rules.some(({ kind }) => kind === 'unix');
    for (const rule of rules) {
      if (rule.kind === 'network') {
        this.#networks.addSubnet(rule.address, rule.bits, family(rule.address));
      } else if (rule.kind === 'host') {
        for (const address of rule.ref.addresses) {
          this.#networks.addAddress(address, family(address));
        }
      }
    }
  }

  /** `address` is that of the peer, `unix:` for a UNIX-domain socket. */
  match(address: string): boolean {
    return address === 'unix:' ? this.#unix : this.#networks.check(address, family(address));
  }
}
