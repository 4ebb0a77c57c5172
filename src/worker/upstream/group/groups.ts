import { addressText } from '../../address/backend-url.js';
import { runtimePart } from '../../task/protocol-runtime.js';
import { defaultPeerOptions, Peer, PeerSet } from '../balancing/peer.js';
import { RoundRobin } from '../balancing/round-robin.js';
import type { UpstreamGroup } from './group.js';

/** All groups of backends of a configuration, named ones and those that `proxy_pass` and its kin imply. */
class UpstreamGroups {
  readonly #groups: UpstreamGroup[] = [];

  /** The groups with a zone, in the order of the configuration. */
  get zoned(): readonly UpstreamGroup[] {
    return this.#groups.filter(({ zone }) => zone !== undefined);
  }

  /** All groups, in the order of the configuration. */
  get all(): readonly UpstreamGroup[] {
    return this.#groups;
  }

  add(group: UpstreamGroup): void {
    this.#groups.push(group);
  }

  /** The group that a host named at request time stands for. nginx: the loop in ngx_http_upstream_init_request. */
  find(host: string, port: number, noPort: boolean): UpstreamGroup | undefined {
    const name = host.toLowerCase();
    return this.#groups.find((group) => ((group.port === 0 && noPort) || group.port === port) && group.name.toLowerCase() === name);
  }
}

/** The peers of a host without a group of its own. */
export function peersOfAddresses(name: string, addresses: readonly string[], port: number): PeerSet {
  const peers = addresses.map((address) => new Peer(addressText(address, port), name, address, port, defaultPeerOptions));
  return new PeerSet(name, peers, null);
}

/** The only peer that a unix socket's path stands for. */
export function unixPeer(path: string): PeerSet {
  return new PeerSet(path, [new Peer(`unix:${path}`, path, path, 0, defaultPeerOptions)], null);
}

/** A group without `upstream {}`: round robin over the addresses of one host. nginx: the end of ngx_http_upstream_init_round_robin. */
export function impliedGroup(name: string, port: number, noPort: boolean, peers: PeerSet): UpstreamGroup {
  return { name, port, noPort, balancer: new RoundRobin(peers), idle: undefined, set: peers };
}

/** The groups of an `http` block. */
export const groupsOf = runtimePart(() => new UpstreamGroups());
