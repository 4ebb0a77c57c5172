import type { Logger } from '../../../shared/log/error-log.js';
import { ERROR } from '../../../shared/log/level.js';
import { setTimer } from '../../../shared/time/timer.js';
import { addressText } from '../../address/backend-url.js';
import { md5Bytes } from '../../digest/md5.js';
import { askedName, RESOLVE, type Resolver, resolveErrorText } from '../../resolver/resolver.js';
import { Peer, type PeerSet } from '../balancing/peer.js';
import type { GroupServer } from './group-config.js';
import type { KnownAddress, NamesZone } from './names-zone.js';

/** Shortest wait (milliseconds) after a failure before a name is looked up again. */
const MIN_RETRY = 1000;

/** Ids of peers whose addresses were looked up begin here. */
export const FIRST_RESOLVED_ID = 2 ** 20;

/** What the names of a group have in common. */
export interface DynamicGroup {
  readonly set: PeerSet;
  readonly resolver: Resolver;
  readonly resolverTimeout: number;
  readonly names: NamesZone;
  readonly log: Logger;
}

/** A `server` line whose addresses are looked up again and again. nginx: ngx_http_upstream_host_t. */
export class DynamicServer {
  readonly #group: DynamicGroup;
  readonly #line: GroupServer;
  readonly #key: string;
  /** The peers it has in the set and in the backup set. */
  readonly #peers: readonly [Peer[], Peer[]] = [[], []];
  #timer: NodeJS.Timeout | undefined;
  #cancel: () => void = () => {};

  constructor(group: DynamicGroup, line: GroupServer) {
    this.#group = group;
    this.#line = line;
    this.#key = JSON.stringify([group.set.name, line.url.host, line.service]);
  }

  /** Begins with the addresses that were known before. nginx: ngx_http_upstream_zone_init_worker. */
  start(): void {
    const known = this.#group.names.get(this.#key);
    if (known !== undefined) {
      this.#take(known.addresses);
    }
    this.#wait(known === undefined ? 1 : Math.max(known.validUntil - Date.now(), 1));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#cancel();
  }

  #wait(ms: number): void {
    this.#timer = setTimer(() => this.#resolve(), ms).unref();
  }

  #resolve(): void {
    const { resolver, resolverTimeout } = this.#group;
    const { host } = this.#line.url;
    const { service } = this.#line;
    this.#cancel =
      service === ''
        ? resolver.resolve(host, resolverTimeout, ({ state, addresses, validUntil }) =>
            this.#resolved(
              state,
              addresses.map((address) => ({ address, host: '', port: 0, priority: 0, weight: 1 })),
              validUntil,
            ),
          )
        : resolver.resolveService(service, host, resolverTimeout, ({ state, services, failures, validUntil }) => {
            for (const failed of failures) {
              this.#logFailure(failed.host, failed.state, ` while resolving service ${service} of ${host}`);
            }
            this.#resolved(
              state,
              services.flatMap(({ addresses, ...record }) => addresses.map((address) => ({ ...record, address }))),
              validUntil,
            );
          });
  }

  #logFailure(name: string, state: number, rest: string): void {
    this.#group.log.log(ERROR, `${name} could not be resolved (${state}: ${resolveErrorText(state)})${rest}`);
  }

  // nginx: ngx_http_upstream_zone_resolve_handler.
  #resolved(state: number, addresses: readonly KnownAddress[], validUntil: number): void {
    this.#cancel = () => {};
    if (state !== RESOLVE.OK) {
      const { service, url } = this.#line;
      this.#logFailure(service === '' ? askedName(url.host) : `service ${service} of ${url.host}`, state, '');
      if (state !== RESOLVE.NXDOMAIN) {
        this.#wait(Math.max(this.#group.resolverTimeout, MIN_RETRY));
        return;
      }
    }
    const found = state === RESOLVE.OK ? addresses : [];
    this.#take(found);
    this.#group.names.set(this.#key, { validUntil, addresses: found });
    const now = Date.now();
    this.#wait(validUntil > now ? validUntil - now + 1000 : 1000);
  }

  /** Brings the peers in line with the addresses; those that stay keep their standing. */
  #take(addresses: readonly KnownAddress[]): void {
    const { set } = this.#group;
    const { service, backup } = this.#line;
    let changed = false;
    const first = Math.min(...addresses.map(({ priority }) => priority));
    for (const which of [0, 1] as const) {
      // Without SRV records all addresses go where the line stands; with them, the lesser priorities are backups.
      if (service === '' && which !== (backup ? 1 : 0)) {
        continue;
      }
      const target = which === 0 ? set : set.backup;
      if (target === null) {
        continue;
      }
      const wanted = service === '' ? addresses : addresses.filter(({ priority }) => (priority === first) === (which === 0));
      if (this.#replace(target, this.#peers[which], wanted)) {
        changed = true;
      }
    }
    if (changed) {
      set.count();
    }
  }

  #replace(target: PeerSet, own: Peer[], wanted: readonly KnownAddress[]): boolean {
    const left = [...wanted];
    const gone = own.filter((peer) => {
      const i = left.findIndex((address) => this.#isAt(peer, address));
      if (i !== -1) {
        left.splice(i, 1);
      }
      return i === -1;
    });
    if (gone.length === 0 && left.length === 0) {
      return false;
    }
    const added = left.map((address) => this.#makePeer(address));
    const kept = own.filter((peer) => !gone.includes(peer));
    own.splice(0, own.length, ...kept, ...added);
    target.replace([...target.peers.filter((peer) => !gone.includes(peer)), ...added]);
    return true;
  }

  #isAt(peer: Peer, address: KnownAddress): boolean {
    if (peer.address !== address.address) {
      return false;
    }
    if (this.#line.service === '') {
      return true;
    }
    if (peer.port !== address.port || peer.server !== address.host) {
      return false;
    }
    return this.#line.options.weight !== 1 || peer.weight === Math.max(address.weight, 1);
  }

  #makePeer(known: KnownAddress): Peer {
    const peer = this.#peerAt(known);
    // The same in all workers, and beyond the numbers of the lines.
    peer.id = FIRST_RESOLVED_ID + (md5Bytes(peer.name).readUInt32BE() % FIRST_RESOLVED_ID);
    return peer;
  }

  #peerAt({ address, host, port, weight }: KnownAddress): Peer {
    const { url, options, service } = this.#line;
    if (service === '') {
      return new Peer(addressText(address, url.port), url.url, address, url.port, options);
    }
    const own = options.weight === 1 ? { ...options, weight: Math.max(weight, 1) } : options;
    return new Peer(addressText(address, port), host, address, port, own);
  }
}
