import { WARN } from '../../../shared/log/level.js';
import { nowSeconds } from '../../../shared/time/unix-time.js';
import { PEER } from '../../../shared/zone/meter-kinds.js';
import type { ClientTask } from '../../task/client-task.js';
import type { Attempt } from './attempt.js';
import type { Balancer, Picker } from './balancer.js';
import { DRAINING, HEALTHY, PEER_FAILED, type Peer, type PeerSet } from './peer.js';

/** Peers whose numbers fit into the bits of one small integer. */
const SMALL_SET = 30;

/** Chooses by smooth weighted round robin. nginx: ngx_http_upstream_init_round_robin_peer. */
export class RoundRobin implements Balancer {
  readonly #set: PeerSet;

  constructor(set: PeerSet) {
    this.#set = set;
  }

  begin(r: ClientTask): RoundRobinPicker {
    return new RoundRobinPicker(r, this.#set);
  }
}

/** One request's walk through a set of peers. nginx: ngx_http_upstream_rr_peer_data_t. */
export class RoundRobinPicker implements Picker {
  tries: number;
  readonly groupName: string;
  readonly r: ClientTask;
  /** The set chosen from; after its peers failed, the backup set. */
  set: PeerSet;
  /** The peer that a sticky session asks for; undefined when it does not matter. */
  hint: string | undefined = undefined;
  readonly #version: number;
  #tried = 0;
  #triedMany: Set<number> | null = null;

  constructor(r: ClientTask, set: PeerSet) {
    this.r = r;
    this.set = set;
    this.groupName = set.name;
    this.tries = set.allTries;
    this.#version = set.config.version;
  }

  /** The set changed since the request began, so that what was tried means nothing any more. */
  get outdated(): boolean {
    return this.set.config.version !== this.#version;
  }

  wasTried(index: number): boolean {
    if (index < SMALL_SET) {
      return (this.#tried & (1 << index)) !== 0;
    }
    return this.#triedMany?.has(index) ?? false;
  }

  markTried(index: number): void {
    if (index < SMALL_SET) {
      this.#tried |= 1 << index;
    } else {
      this.#triedMany ??= new Set();
      this.#triedMany.add(index);
    }
  }

  forgetTried(): void {
    this.#tried = 0;
    this.#triedMany = null;
  }

  next(): Peer | null {
    if (this.outdated) {
      return null;
    }
    return this.pick();
  }

  /** Takes a peer of the set, or of the backup set. nginx: ngx_http_upstream_get_round_robin_peer. */
  pick(): Peer | null {
    const peer = this.set.single ? this.#only() : this.choose();
    if (peer === null) {
      return this.pickBackup();
    }
    peer.conns++;
    return peer;
  }

  /** The set's one peer. */
  #only(): Peer | null {
    const sticky = this.sticky();
    if (sticky !== null) {
      return sticky;
    }
    const peer = this.set.peers[0]!;
    return peer.down !== 0 || peer.health !== HEALTHY || (peer.maxConns !== 0 && peer.conns >= peer.maxConns) ? null : peer;
  }

  /** Goes on with the backup peers. */
  pickBackup(): Peer | null {
    const backup = this.set.backup;
    if (backup === null) {
      return null;
    }
    this.set = backup;
    this.forgetTried();
    return this.pick();
  }

  /** Whether a peer can be asked now. */
  usable(peer: Peer, now: number): boolean {
    if (peer.down !== 0 || peer.health !== HEALTHY) {
      return false;
    }
    if (peer.maxFails !== 0 && peer.fails >= peer.maxFails && now - peer.checked <= peer.failTimeout) {
      return false;
    }
    return peer.maxConns === 0 || peer.conns < peer.maxConns;
  }

  /** The peer that the hint names, if it can be asked. nginx: ngx_http_upstream_get_rr_peer_by_sid. */
  sticky(): Peer | null {
    const hint = this.hint;
    if (hint === undefined) {
      return null;
    }
    const peers = this.set.peers;
    for (let i = 0; i < peers.length; i++) {
      const peer = peers[i]!;
      if (peer.sid !== hint) {
        continue;
      }
      if (this.wasTried(i)) {
        return null;
      }
      if ((peer.down & ~DRAINING) !== 0 || peer.health !== HEALTHY) {
        return null;
      }
      if (peer.maxFails !== 0 && peer.fails >= peer.maxFails && nowSeconds() - peer.checked <= peer.failTimeout) {
        return null;
      }
      if (peer.maxConns !== 0 && peer.conns >= peer.maxConns) {
        return null;
      }
      return peer;
    }
    return null;
  }

  /** Chooses among several peers, and marks the one chosen with {@link take}. nginx: ngx_http_upstream_get_peer. */
  choose(): Peer | null {
    const set = this.set;
    const { peers, rotation } = set;
    const now = nowSeconds();
    if (rotation !== null) {
      const peer = this.hint === undefined && this.#tried === 0 && this.#triedMany === null ? rotation.next() : null;
      if (peer !== null) {
        return this.take(peer, now);
      }
      rotation.settle();
    }
    const sticky = this.sticky();
    // One request of a session in a row does not count against its peer.
    if (sticky !== null && sticky.currentWeight <= sticky.weight - set.totalWeight) {
      return this.take(sticky, now);
    }
    let best: Peer | null = null;
    let total = 0;
    for (let i = 0; i < peers.length; i++) {
      const peer = peers[i]!;
      if (this.wasTried(i) || !this.usable(peer, now)) {
        continue;
      }
      const weight = this.currentWeight(peer);
      peer.currentWeight += weight;
      total += weight;
      if (peer.effectiveWeight < peer.weight) {
        peer.effectiveWeight++;
      }
      if (best === null || peer.currentWeight > best.currentWeight) {
        best = peer;
      }
    }
    if (sticky !== null) {
      best = sticky;
    }
    if (best === null) {
      return null;
    }
    best.currentWeight -= total;
    rotation?.begin();
    return this.take(best, now);
  }

  /** The weight with which a peer takes part at the moment. */
  currentWeight(peer: Peer): number {
    return peer.recoveredAt === 0 ? peer.effectiveWeight : slowStartWeight(peer);
  }

  /** Marks a peer as asked by this request. */
  take(peer: Peer, now: number): Peer {
    this.markTried(peer.index);
    if (now - peer.checked > peer.failTimeout) {
      peer.checked = now;
    }
    return peer;
  }

  /** A trial after failures went well. nginx: ngx_stream_upstream_notify_round_robin_peer. */
  connected(peer: Peer, _attempt: Attempt | null): void {
    this.#recover(peer);
  }

  #recover(peer: Peer): void {
    if (peer.accessed >= peer.checked || peer.fails === 0) {
      return;
    }
    if (peer.slowStart !== 0 && peer.maxFails !== 0 && peer.fails >= peer.maxFails) {
      peer.recoveredAt = Date.now();
    }
    peer.fails = 0;
  }

  // nginx: ngx_http_upstream_free_round_robin_peer.
  done(peer: Peer, state: number, _attempt: Attempt | null): void {
    if (this.set.single) {
      peer.fails = 0;
      peer.conns--;
      this.tries = 0;
      return;
    }
    if ((state & PEER_FAILED) !== 0) {
      const now = nowSeconds();
      this.set.rotation?.settle();
      peer.fails++;
      peer.accessed = now;
      peer.checked = now;
      if (peer.maxFails !== 0) {
        peer.effectiveWeight -= Math.trunc(peer.weight / peer.maxFails);
        if (peer.fails >= peer.maxFails) {
          peer.meter?.count(PEER.unavail);
          this.r.log(WARN, 'upstream server temporarily disabled');
        }
      }
      if (peer.effectiveWeight < 0) {
        peer.effectiveWeight = 0;
      }
    } else {
      this.#recover(peer);
    }
    peer.conns--;
    if (this.tries > 0) {
      this.tries--;
    }
  }
}

/** The weight of a peer that works again since a short while: it grows in a line to the full one within `slow_start`. */
function slowStartWeight(peer: Peer): number {
  const elapsed = Date.now() - peer.recoveredAt;
  if (elapsed >= peer.slowStart) {
    peer.recoveredAt = 0;
    return peer.effectiveWeight;
  }
  return (peer.effectiveWeight * elapsed) / peer.slowStart;
}

/** The peer at a number below the set's whole weight, each peer taking as many numbers as it has weight. */
export function peerAtWeight(set: PeerSet, at: number): Peer {
  const peers = set.peers;
  let i = 0;
  for (let rest = at; rest >= peers[i]!.weight; i++) {
    rest -= peers[i]!.weight;
  }
  return peers[i]!;
}
