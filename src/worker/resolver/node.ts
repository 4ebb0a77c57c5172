import type { DnsRecord } from './message.js';
import { RESOLVE, type ResolvedName } from './resolver.js';

/** Somebody who waits for a name. */
export interface NameWaiter {
  readonly done: (result: ResolvedName) => void;
  node: NameNode | undefined;
  /** How many names have been followed. */
  recursion: number;
  timer: NodeJS.Timeout | undefined;
}

/** What is known of a name, or asked. nginx: ngx_resolver_node_t. */
export class NameNode {
  readonly name: string;
  /** undefined: the answer has not come. */
  addresses: readonly string[] | undefined;
  addresses6: readonly string[] | undefined;
  services: readonly DnsRecord[] = [];
  cname: string | undefined = undefined;
  query: Buffer | undefined = undefined;
  query6: Buffer | undefined = undefined;
  tcp = false;
  tcp6 = false;
  /** The error of the one answer, until the other comes. */
  code = 0;
  /** Seconds; the least of all records. */
  ttl = 0xffffffff;
  /** Seconds of the wall clock. */
  validUntil = 0;
  keepUntil = 0;
  server = 0;
  resend: NodeJS.Timeout | undefined = undefined;
  readonly waiting = new Set<NameWaiter>();

  constructor(name: string, addresses: readonly string[] | undefined, addresses6: readonly string[] | undefined) {
    this.name = name;
    this.addresses = addresses;
    this.addresses6 = addresses6;
  }

  get id(): number {
    return this.query?.readUInt16BE(0) ?? -1;
  }

  get id6(): number {
    return this.query6?.readUInt16BE(0) ?? -1;
  }

  /** Both answers have come. */
  get known(): boolean {
    return this.addresses !== undefined && this.addresses6 !== undefined;
  }

  /** There is an address. */
  get found(): boolean {
    return (this.addresses?.length ?? 0) + (this.addresses6?.length ?? 0) > 0;
  }

  take(six: boolean, addresses: readonly string[]): void {
    if (six) {
      this.addresses6 = addresses;
    } else {
      this.addresses = addresses;
    }
  }

  /** Empties the list of clients that wait for this name, and returns them. */
  release(): readonly NameWaiter[] {
    const waiters = [...this.waiting];
    this.waiting.clear();
    for (const waiter of waiters) {
      waiter.node = undefined;
    }
    return waiters;
  }

  /** The result for those who wait; `rotate` lets each of them begin with another address. nginx: ngx_resolver_export. */
  result(rotate: boolean): ResolvedName {
    const four = rotated(this.addresses ?? [], rotate);
    const six = rotated(this.addresses6 ?? [], rotate);
    return {
      state: RESOLVE.OK,
      addresses: rotated([...four, ...six], rotate),
      services: this.services,
      validUntil: this.validUntil * 1000,
    };
  }
}

function rotated<T>(list: readonly T[], rotate: boolean): readonly T[] {
  if (!rotate || list.length < 2) {
    return list;
  }
  const start = Math.floor(Math.random() * list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}
