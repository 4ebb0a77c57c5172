import { Peer, type PeerOptions, type PeerSet } from './peer.js';

/** A server that was added while the group was in use. */
export interface AddedServer {
  readonly id: number;
  /** As it was given. */
  readonly server: string;
  /** Address and port, or `unix:` and the path. */
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly backup: boolean;
  readonly options: PeerOptions;
}

/** How a group differs from its configuration. */
export interface Membership {
  readonly added: readonly AddedServer[];
  /** Ids of servers of the configuration that were removed. */
  readonly removed: readonly number[];
}

/** Brings the peers of a set in line; those that stay keep their standing. */
export function applyMembership(set: PeerSet, membership: Membership): void {
  for (const [backup, target] of [
    [false, set],
    [true, set.backup],
  ] as const) {
    if (target === null) {
      continue;
    }
    const wanted = membership.added.filter((server) => server.backup === backup);
    const stay = target.peers.filter((peer) =>
      peer.added ? wanted.some(({ id }) => id === peer.id) : !membership.removed.includes(peer.id),
    );
    const fresh = wanted.filter(({ id }) => !target.peers.some((peer) => peer.added && peer.id === id)).map(makePeer);
    if (fresh.length > 0 || stay.length !== target.peers.length) {
      target.replace([...stay, ...fresh]);
    }
  }
  set.membership = membership;
  set.count();
}

function makePeer({ id, server, name, address, port, options }: AddedServer): Peer {
  const peer = new Peer(name, server, address, port, options);
  peer.id = id;
  peer.added = true;
  return peer;
}
