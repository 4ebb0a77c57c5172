import { In } from '../../../shared/config/context.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { crc32 } from '../../digest/crc32.js';
import { defineModule, defineSharedScope } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import type { Balancer } from '../../upstream/balancing/balancer.js';
import { DrawingPicker } from '../../upstream/balancing/drawing-picker.js';
import type { Peer, PeerSet } from '../../upstream/balancing/peer.js';
import { peerAtWeight } from '../../upstream/balancing/round-robin.js';
import { ACCEPTS_ALIKE, setBalancer } from '../../upstream/group/balancer-directive.js';
import { HashRing } from './ring.js';

/** Compatible with Cache::Memcached. nginx: ngx_http_upstream_get_hash_peer. */
class HashPicker extends DrawingPicker {
  readonly #key: string;
  #hash = 0;
  #rehash = 0;

  constructor(r: ClientTask, set: PeerSet, key: string) {
    super(r, set);
    this.#key = key;
    if (key === '') {
      this.drawNoMore();
    }
  }

  override draw(now: number): Peer | null {
    const { set } = this;
    const text = this.#rehash > 0 ? this.#rehash + this.#key : this.#key;
    this.#hash += (crc32(text) >>> 16) & 0x7fff;
    this.#rehash++;
    const peer = peerAtWeight(set, this.#hash % set.totalWeight);
    return this.wasTried(peer.index) || !this.usable(peer, now) ? null : peer;
  }
}

/** Keeps a key at its server when others come and go. nginx: ngx_http_upstream_get_chash_peer. */
class ConsistentPicker extends DrawingPicker {
  override least = 1;
  readonly #ring: HashRing;
  #point: number;

  constructor(r: ClientTask, set: PeerSet, key: string, ring: HashRing) {
    super(r, set);
    this.#ring = ring;
    this.#point = ring.find(crc32(key));
    if (key === '') {
      this.drawNoMore();
    }
  }

  override draw(now: number): Peer | null {
    const peer = this.#atServer(this.#ring.server(this.#point), now);
    if (peer === null) {
      this.#point++;
    }
    return peer;
  }

  /** Among the addresses of one server, round robin chooses. */
  #atServer(server: string, now: number): Peer | null {
    const { peers } = this.set;
    let best: Peer | null = null;
    let total = 0;
    for (let i = 0; i < peers.length; i++) {
      const peer = peers[i]!;
      if (peer.server !== server || this.wasTried(i) || !this.usable(peer, now)) {
        continue;
      }
      peer.currentWeight += peer.effectiveWeight;
      total += peer.effectiveWeight;
      if (peer.effectiveWeight < peer.weight) {
        peer.effectiveWeight++;
      }
      if (best === null || peer.currentWeight > best.currentWeight) {
        best = peer;
      }
    }
    if (best !== null) {
      best.currentWeight -= total;
    }
    return best;
  }
}

/** The ring is rebuilt when the group's addresses change. */
function consistent(set: PeerSet, key: ComplexValue<ClientTask>): Balancer {
  let ring = new HashRing(set);
  let version = set.config.version;
  return {
    begin(r) {
      if (version !== set.config.version) {
        ring = new HashRing(set);
        version = set.config.version;
      }
      return new ConsistentPicker(r, set, key.eval(r), ring);
    },
  };
}

/** Chooses a server by a key. nginx: ngx_http_upstream_hash_module. */
export const hashModule = defineModule({
  name: 'hash',
  main: defineSharedScope<object>({
    fields: {},
    directives: {
      hash: {
        in: In.UPSTREAM | In.STREAM_UPSTREAM,
        args: [1, 2],
        set(_conf, node, ctx) {
          const key = ctx.complex(node.args[0]!);
          const mode = node.args[1];
          if (mode !== undefined && mode !== 'consistent') {
            ctx.fail(`invalid parameter "${mode}"`, { arg: 1 });
          }
          if (mode === undefined) {
            setBalancer(ctx, (set) => ({ begin: (r) => new HashPicker(r, set, key.eval(r)) }), ACCEPTS_ALIKE);
          } else {
            setBalancer(ctx, (set) => consistent(set, key), ACCEPTS_ALIKE);
          }
        },
      },
    },
  }),
});
