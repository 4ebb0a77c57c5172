import { DOWN, DRAINING, type Peer, UP } from '../upstream/balancing/peer.js';
import type { UpstreamGroup } from '../upstream/group/group.js';

/** What may be changed of a peer while the server runs. Times are seconds and milliseconds as in {@link Peer}. */
export interface PeerChange {
  readonly weight?: number;
  readonly maxConns?: number;
  readonly maxFails?: number;
  readonly failTimeout?: number;
  readonly slowStart?: number;
  readonly down?: boolean;
  readonly drain?: boolean;
}

/** Changes a peer for all workers. Only groups with a zone can be changed: others have no place where workers would see it. */
export function changePeer(group: UpstreamGroup, peer: Peer, change: PeerChange): void {
  const apply = (): void => {
    const set = group.set!;
    set.rotation?.settle();
    if (change.weight !== undefined) {
      peer.weight = change.weight;
      peer.effectiveWeight = change.weight;
    }
    peer.maxConns = change.maxConns ?? peer.maxConns;
    peer.maxFails = change.maxFails ?? peer.maxFails;
    peer.failTimeout = change.failTimeout ?? peer.failTimeout;
    peer.slowStart = change.slowStart ?? peer.slowStart;
    peer.down = downOf(peer.down, change);
    set.count();
    set.backup?.count();
    group.state?.write(set);
  };
  const { shared } = group;
  if (shared === undefined) {
    apply();
    return;
  }
  if (!shared.changeNow(apply)) {
    shared.change(apply);
  }
}

/** A peer that is enabled takes all requests again, also if it was to take only those of its sessions. */
export function downOf(before: number, { down, drain }: PeerChange): number {
  if (down === true) {
    return DOWN;
  }
  if (drain === true) {
    return DRAINING;
  }
  return down === false || drain === false ? UP : before;
}
