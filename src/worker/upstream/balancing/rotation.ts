import { HEALTHY, type Peer, type PeerSet, UP } from './peer.js';

/**
 * Smooth weighted round robin among peers of equal weight, without comparing all of them for each choice. As long as no peer fails or
 * changes, choices repeat in one order, and the position in it gives the peers' current weights. Code that changes what a choice depends
 * on (failures, health, the list of peers) calls {@link Rotation.settle} first, which stores those weights. Choices then compare all
 * peers, as nginx does, until {@link Rotation.begin} finds every peer in order again.
 */
export class Rotation {
  readonly #set: PeerSet;
  /** Peers in the order of their turns, with the weights that they began with; none while they are compared. */
  #order: readonly Peer[] = [];
  /** Whose turn is next. */
  #at = 0;
  /** Choices to wait before the next look at all peers. */
  #wait = 0;

  constructor(set: PeerSet) {
    this.#set = set;
  }

  /** The peer whose turn it is, or null when peers have to be compared. */
  next(): Peer | null {
    const order = this.#order;
    if (order.length === 0) {
      return null;
    }
    const peer = order[this.#at]!;
    if (++this.#at === order.length) {
      this.#at = 0;
    }
    return peer;
  }

  /** Ends the rotation: the peers' current weights are what comparisons would have made of them. */
  settle(): void {
    const order = this.#order;
    const n = order.length;
    if (n === 0) {
      return;
    }
    for (let i = 0; i < n; i++) {
      order[i]!.currentWeight += this.#at - (i < this.#at ? n : 0);
    }
    this.#order = [];
    this.#wait = n;
  }

  /** Begins after a choice by comparison if all peers allow it; looks at them once for as many choices as there are peers. */
  begin(): void {
    if (this.#wait > 0) {
      this.#wait--;
      return;
    }
    const { peers, weighted } = this.#set;
    this.#wait = peers.length;
    if (weighted) {
      return;
    }
    const order: Peer[] = [];
    for (let i = 0; i < peers.length; i++) {
      const peer = peers[i]!;
      if (peer.down !== UP || peer.health !== HEALTHY) {
        continue;
      }
      if (peer.fails !== 0 || peer.maxConns !== 0 || peer.recoveredAt !== 0 || peer.effectiveWeight !== peer.weight) {
        return;
      }
      order.push(peer);
    }
    if (order.length < 2) {
      return;
    }
    order.sort(before);
    // Each choice puts a peer so far back that it has to come after all others.
    const first = order[0]!;
    const last = order[order.length - 1]!;
    const behind = first.currentWeight - order.length - last.currentWeight;
    if (behind > 0 || (behind === 0 && first.index < last.index)) {
      return;
    }
    this.#order = order;
    this.#at = 0;
  }
}

function before(a: Peer, b: Peer): number {
  return b.currentWeight - a.currentWeight || a.index - b.index;
}
