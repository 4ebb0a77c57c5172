import { objectOf } from '../../../shared/zone/row-bytes.js';
import { Peer, type PeerOptions, type PeerSet } from './peer.js';

/** A server that was added while the group was in use. */
export interface AddedServer {
  /** What the API calls it. */
  readonly id: number;
  /** The peer's own number: a server whose address is changed keeps its id and gets another serial. */
  readonly serial: number;
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
  /** Ids of servers of the configuration that were removed, or whose address was changed: these are among those added, too. */
  readonly removed: readonly number[];
  /** The serial number that was given last. */
  readonly last: number;
}

/** The members are those of the configuration. */
export const NO_CHANGES: Membership = { added: [], removed: [], last: 0 };

const SERVER = { id: 'number', serial: 'number', server: 'string', name: 'string', address: 'string', port: 'number', backup: 'boolean' };
const OPTIONS = {
  weight: 'number',
  maxConns: 'number',
  maxFails: 'number',
  failTimeout: 'number',
  slowStart: 'number',
  down: 'number',
  route: 'string',
};

/** What the text of a row says of a group's members; undefined when it is none that was stored so. */
export function membershipOf(text: unknown): Membership | undefined {
  const found = objectOf(text);
  if (found === undefined || !Array.isArray(found['added']) || !Array.isArray(found['removed']) || typeof found['last'] !== 'number') {
    return undefined;
  }
  const sound =
    found['added'].every((server) => has(server, SERVER) && has((server as AddedServer).options, OPTIONS)) &&
    found['removed'].every((id) => typeof id === 'number');
  return sound ? (found as unknown as Membership) : undefined;
}

function has(value: unknown, fields: Readonly<Record<string, string>>): boolean {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  return Object.entries(fields).every(([name, type]) => typeof (value as Record<string, unknown>)[name] === type);
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
    const left = new Set(wanted);
    let changed = false;
    const peers: Peer[] = [];
    for (const peer of target.peers) {
      if (!peer.added && !membership.removed.includes(peer.id)) {
        peers.push(peer);
        continue;
      }
      // The id may have gone on to another address, whose peer takes the place.
      const next = wanted.find((server) => server.id === peer.id && left.has(server));
      if (next === undefined) {
        changed = true;
        continue;
      }
      left.delete(next);
      const same = peer.serial === next.serial;
      changed ||= !same;
      peers.push(same ? peer : makePeer(next));
    }
    if (changed || left.size > 0) {
      target.replace([...peers, ...[...left].map(makePeer)]);
    }
  }
  set.membership = membership;
  set.count();
}

function makePeer({ id, serial, server, name, address, port, options }: AddedServer): Peer {
  const peer = new Peer(name, server, address, port, options);
  peer.id = id;
  peer.serial = serial;
  return peer;
}
