import type { ConfigContext } from '../config/define.js';
import type { DirectiveNode } from '../config/language/ast.js';
import { type Address, noAddress, parseAddress, unmapped } from '../lib/address.js';
import { AddressMap } from '../lib/address-map.js';
import { type Cidr, parseCidr } from '../lib/cidr.js';
import { TrustedPeers } from '../net/forwarded-address.js';
import type { Subject } from '../value/subject.js';
import { GeoRanges } from './geo-ranges.js';
import { variableName } from './variable-name.js';

/** Where a `geo` without a source variable takes the address from. */
export interface GeoSource<R> {
  /** The client's address as text; one that is no IP address counts as 255.255.255.255. */
  client(r: R): string;
  /** Replaces an address by the one that trusted proxies forward; absent where there is no such thing. */
  forwarded?(r: R, address: Address, proxies: TrustedPeers, recursive: boolean): Address;
}

/** A `geo` as it is read. nginx: ngx_http_geo. */
class GeoTable<R extends Subject> {
  ranges = false;
  volatile = false;
  recursive = false;
  /** Networks by first address and length, and their order of size for the lookup. */
  readonly #networks = new Map<string | number, { readonly cidr: Cidr; readonly value: string }>();
  readonly #ranges = new GeoRanges();
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
      this.#proxies.push(network(argument, ctx));
    } else if (this.ranges) {
      this.#range(name, argument, ctx);
    } else {
      this.#network(name, argument, ctx);
    }
  }

  proxies(): TrustedPeers | undefined {
    return this.#proxies.length === 0 ? undefined : new TrustedPeers(this.#proxies, false);
  }

  /** Makes the look-up: address to value. */
  compile(): (address: Address) => string {
    if (this.ranges) {
      const map = new AddressMap(this.#ranges.entries());
      const fallback = this.#default ?? '';
      return (address) => (address.family === 4 ? map.find(address) : map.find(noAddress)) ?? fallback;
    }
    const entries = [...this.#networks.values()].sort((a, b) => b.cidr.bits - a.cidr.bits);
    const map = new AddressMap(entries.map(({ cidr, value }) => ({ first: cidr.first, last: cidr.last, value })));
    return (address) => map.find(address) ?? '';
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
      this.#add(everything4, argument, name, ctx);
      this.#add(everything6, argument, name, ctx);
    } else if (name === 'delete') {
      if (!this.#networks.delete(keyOf(network(argument, ctx)))) {
        ctx.warn(`no network "${argument}" to delete`);
      }
    } else {
      this.#add(network(name, ctx), argument, name, ctx);
    }
  }

  #add(cidr: Cidr, value: string, text: string, ctx: ConfigContext<R>): void {
    const key = keyOf(cidr);
    const old = this.#networks.get(key);
    if (old !== undefined) {
      ctx.warn(`duplicate network "${text}", value: "${value}", old value: "${old.value}"`);
    }
    this.#networks.set(key, { cidr, value });
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
    const result = this.#ranges.add(first.d, last.d, argument);
    if ('overlaps' in result) {
      ctx.fail(`range "${text}" overlaps "${result.overlaps}"`);
    }
    for (const old of result.duplicates) {
      ctx.warn(`duplicate range "${text}", value: "${argument}", old value: "${old}"`);
    }
  }
}

const everything4 = parseCidr('0.0.0.0/0')!;
const everything6 = parseCidr('::/0')!;

/** A number where it fits in one, since there may be hundreds of thousands. */
function keyOf({ first, bits }: Cidr): string | number {
  if (first.family === 4) {
    return first.d * 64 + bits;
  }
  return `${first.family} ${first.a} ${first.b} ${first.c} ${first.d}/${bits}`;
}

// nginx: ngx_http_geo_cidr_value.
function network<R extends Subject>(text: string, ctx: ConfigContext<R>): Cidr {
  if (text === '255.255.255.255') {
    return { first: noAddress, last: noAddress, bits: 32, lowBits: false };
  }
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    return ctx.fail(`invalid network "${text}"`);
  }
  if (cidr.lowBits) {
    ctx.warn(`low address bits of ${text} are meaningless`);
  }
  return cidr;
}

/** Reads `geo [$source] $name { ... }` and defines its variable. nginx: ngx_http_geo_block. */
export function readGeo<R extends Subject>(node: DirectiveNode, ctx: ConfigContext<R>, source: GeoSource<R>): void {
  const sourceSlot = node.args.length === 2 ? ctx.variables.slot(variableName(node.args[0]!, 0, ctx), node.pos) : undefined;
  const at = node.args.length - 1;
  const name = variableName(node.args[at]!, at, ctx);
  const table = new GeoTable<R>(source.forwarded !== undefined);
  ctx.entries(node, (line, lineCtx) => table.read(line, lineCtx));
  const { variables } = ctx;
  const { recursive } = table;
  const proxies = table.proxies();
  // Built by the first request: the master, which only checks, needs no look-up.
  let find: ((address: Address) => string) | undefined;
  const defined = variables.define({
    name,
    changeable: true,
    cacheable: !table.volatile,
    origin: { text: 'geo', pos: node.pos },
    get(r) {
      const text = sourceSlot === undefined ? source.client(r) : variables.fresh(r, sourceSlot);
      let address = text === undefined ? undefined : parseAddress(text);
      if (proxies !== undefined && address !== undefined) {
        address = source.forwarded!(r, address, proxies, recursive);
      }
      find ??= table.compile();
      return find(address === undefined ? noAddress : unmapped(address));
    },
  });
  if (!defined) {
    ctx.fail(`the duplicate "${name}" variable`, { arg: at });
  }
}
