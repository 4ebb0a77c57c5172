import type { Peer } from './peer.js';
import type { RoundRobinPicker } from './round-robin.js';

/**
 * The peer with the least load for its weight; round robin decides between equals. `load` gives a peer's load.
 * nginx: ngx_http_upstream_get_least_conn_peer.
 */
export function chooseLeast(picker: RoundRobinPicker, now: number, load: (peer: Peer) => number): Peer | null {
  const { peers } = picker.set;
  let best: Peer | null = null;
  let bestLoad = 0;
  let many = false;
  for (let i = 0; i < peers.length; i++) {
    const peer = peers[i]!;
    if (picker.wasTried(i) || !picker.usable(peer, now)) {
      continue;
    }
    const own = load(peer);
    if (best === null || own * best.weight < bestLoad * peer.weight) {
      best = peer;
      bestLoad = own;
      many = false;
    } else if (own * best.weight === bestLoad * peer.weight) {
      many = true;
    }
  }
  if (best === null) {
    return null;
  }
  if (many) {
    best = amongEquals(picker, now, best, bestLoad, load);
  }
  return best;
}

function amongEquals(picker: RoundRobinPicker, now: number, first: Peer, firstLoad: number, load: (peer: Peer) => number): Peer {
  const { peers } = picker.set;
  let best = first;
  let total = 0;
  for (let i = first.index; i < peers.length; i++) {
    const peer = peers[i]!;
    if (picker.wasTried(i) || load(peer) * best.weight !== firstLoad * peer.weight || !picker.usable(peer, now)) {
      continue;
    }
    const weight = picker.currentWeight(peer);
    peer.currentWeight += weight;
    total += weight;
    if (peer.effectiveWeight < peer.weight) {
      peer.effectiveWeight++;
    }
    if (peer.currentWeight > best.currentWeight) {
      best = peer;
    }
  }
  best.currentWeight -= total;
  return best;
}
