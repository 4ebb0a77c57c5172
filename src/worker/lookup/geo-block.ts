import { type Address, noAddress, parseAddress, parseWritten, unmapped } from '../../shared/address/address.js';
import type { ConfigContext } from '../../shared/config/define.js';
import type { DirectiveNode } from '../../shared/config/language/ast.js';
import type { Subject } from '../../shared/value/subject.js';
import { type Cidr, parseCidr, simpleIpv4Cidr } from '../address/cidr.js';
import { TrustedPeers } from '../address/forwarded-address.js';
import type { AddressSource } from './address-source.js';
import { GeoNetworks } from './geo-networks.js';
import { WITHOUT } from './geo-places.js';
import { GeoRanges } from './geo-ranges.js';
import { readNetwork } from './network.js';
import { newVariable, variableName } from './variable-name.js';

/** A `geo` as it is read. nginx: ngx_http_geo. */
class GeoTable<R extends Subject> {
  ranges = false;
  volatile = false;
  recursive = false;
  /** The texts of the values, and the number of each. */
  readonly #texts: string[] = [];
  readonly #numbers = new Map<string, number>();
  #networks4 = new GeoNetworks(4);
  #networks6 = new GeoNetworks(6);
  #ranges = new GeoRanges();
  readonly #proxies: Cidr[] = [];
  readonly #takesProxies: boolean;
  /** The value of `default` among ranges. */
  #default: string | undefined = undefined;
  #started = false;

  constructor(takesProxies: boolean) {
    this.#takesProxies = takesProxies;
  }

  read(line: DirectiveNode, ctx: ConfigContext<R>): void {
    const { name, args } = line;
    if (args.length === 0 && this.#flag(name, ctx)) {
      return;
    }
    if (args.length !== 1) {
      ctx.fail('invalid number of the geo parameters');
    }
    const argument = args[0]!;
    if (name === 'proxy' && this.#takesProxies) {
      this.#proxies.push(readNetwork(argument, ctx));
    } else if (this.ranges) {
      this.#range(name, argument, ctx);
    } else {
      this.#network(name, argument, ctx);
    }
  }

  proxies(): TrustedPeers | undefined {
    return this.#proxies.length === 0 ? undefined : new TrustedPeers(this.#proxies, false);
  }

  /** Makes the look-up: address to value. The table is empty after that. */
  compile(): (address: Address) => string {
    const texts = this.#texts;
    if (this.ranges) {
      const { starts, values } = this.#ranges.cut();
      this.#ranges = new GeoRanges();
      const fallback = this.#default ?? '';
      return ({ family, d }) => valueAt(texts, values, starts.findIpv4(family === 4 ? d : noAddress.d)) ?? fallback;
    }
    const ipv4 = this.#networks4.cut();
    const ipv6 = this.#networks6.cut();
    this.#networks4 = new GeoNetworks(4);
    this.#networks6 = new GeoNetworks(6);
    return (address) =>
      (address.family === 4
        ? valueAt(texts, ipv4.values, ipv4.starts.findIpv4(address.d))
        : valueAt(texts, ipv6.values, ipv6.starts.findIpv6(address))) ?? '';
  }

  /** The number of a value: hundreds of thousands of lines often have the same few. */
  #number(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.#texts.push(text) - 1;
      this.#numbers.set(text, number);
    }
    return number;
  }

  #flag(name: string, ctx: ConfigContext<R>): boolean {
    if (name === 'ranges') {
      if (this.#started) {
        ctx.fail('the "ranges" directive must be the first directive inside "geo" block');
      }
      this.ranges = true;
    } else if (name === 'proxy_recursive' && this.#takesProxies) {
      this.recursive = true;
    } else if (name === 'volatile') {
      this.volatile = true;
    } else {
      return false;
    }
    return true;
  }

  // nginx: ngx_http_geo_cidr.
  #network(name: string, argument: string, ctx: ConfigContext<R>): void {
    this.#started = true;
    if (name === 'default') {
      this.#report(this.#set(everything4, argument), argument, name, ctx);
      this.#report(this.#set(everything6, argument), argument, name, ctx);
    } else if (name === 'delete') {
      const { first, bits } = readNetwork(argument, ctx);
      const { a, b, c, d } = first;
      if (!(first.family === 4 ? this.#networks4 : this.#networks6).delete(a, b, c, d, bits)) {
        ctx.warn(`no network "${argument}" to delete`);
      }
    } else {
      const plain = simpleIpv4Cidr(name);
      const old =
        plain < 0
          ? this.#set(readNetwork(name, ctx), argument)
          : this.#networks4.set(0, 0, 0, Math.floor(plain / 64), plain % 64, this.#number(argument));
      this.#report(old, argument, name, ctx);
    }
  }

  /** Returns the number of the value that the network had. */
  #set({ first: { family, a, b, c, d }, bits }: Cidr, value: string): number {
    return (family === 4 ? this.#networks4 : this.#networks6).set(a, b, c, d, bits, this.#number(value));
  }

  #report(old: number, value: string, text: string, ctx: ConfigContext<R>): void {
    if (old !== WITHOUT) {
      ctx.warn(`duplicate network "${text}", value: "${value}", old value: "${this.#texts[old]}"`);
    }
  }

  // nginx: ngx_http_geo_range.
  #range(name: string, argument: string, ctx: ConfigContext<R>): void {
    if (name === 'default') {
      if (this.#default !== undefined) {
        ctx.warn(`duplicate default geo range value: "${argument}", old value: "${this.#default}"`);
      }
      this.#default = argument;
      return;
    }
    const text = name === 'delete' ? argument : name;
    const hyphen = text.indexOf('-');
    const first = hyphen < 0 ? undefined : parseAddress(text.slice(0, hyphen));
    const last = parseAddress(text.slice(hyphen + 1));
    if (first?.family !== 4 || last?.family !== 4 || first.d > last.d) {
      ctx.fail(`invalid range "${text}"`);
    }
    if (name === 'delete') {
      if (!this.#ranges.delete(first.d, last.d)) {
        ctx.warn(`no address range "${text}" to delete`);
      }
      return;
    }
    const result = this.#ranges.add(first.d, last.d, this.#number(argument));
    if ('overlaps' in result) {
      ctx.fail(`range "${text}" overlaps "${result.overlaps}"`);
    }
    for (const old of result.duplicates) {
      ctx.warn(`duplicate range "${text}", value: "${argument}", old value: "${this.#texts[old]}"`);
    }
  }
}

function valueAt(texts: readonly string[], numbers: Int32Array, place: number): string | undefined {
  const number = place < 0 ? WITHOUT : numbers[place]!;
  return number === WITHOUT ? undefined : texts[number];
}

const everything4 = parseCidr('0.0.0.0/0')!;
const everything6 = parseCidr('::/0')!;

/** Reads `geo [$source] $name { ... }` and defines its variable. nginx: ngx_http_geo_block. */
export function readGeo<R extends Subject>(node: DirectiveNode, ctx: ConfigContext<R>, source: AddressSource<R>): void {
  const sourceSlot = node.args.length === 2 ? ctx.variables.slot(variableName(node.args[0]!, 0, ctx), node.pos) : undefined;
  const at = node.args.length - 1;
  const name = newVariable(node.args[at]!, at, ctx);
  const table = new GeoTable<R>(source.forwarded !== undefined);
  ctx.entries(node, (line, lineCtx) => table.read(line, lineCtx));
  const { variables } = ctx;
  const { recursive } = table;
  const proxies = table.proxies();
  // Built by the first request: the master, which only checks, needs no look-up.
  let find: ((address: Address) => string) | undefined;
  variables.define({
    name,
    changeable: true,
    cacheable: !table.volatile,
    origin: { text: 'geo', pos: node.pos },
    get(r) {
      let address = sourceSlot === undefined ? parseWritten(source.client(r)) : parseAddress(variables.fresh(r, sourceSlot) ?? '');
      if (proxies !== undefined && address !== undefined) {
        address = source.forwarded!(r, address, proxies, recursive);
      }
      find ??= table.compile();
      return find(address === undefined ? noAddress : unmapped(address));
    },
  });
}
