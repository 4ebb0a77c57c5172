import { In } from '../../../shared/config/context.js';
import { crc32 } from '../../../shared/lib/crc32.js';
import { nowSeconds } from '../../../shared/lib/unix-time.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope } from '../../module.js';
import type { Balancer } from '../../upstream/balancing/balancer.js';
import type { Peer, PeerSet } from '../../upstream/balancing/peer.js';
import { peerAtWeight, RoundRobinPicker } from '../../upstream/balancing/round-robin.js';
import { ACCEPTS_ALIKE, setBalancer } from '../../upstream/group/balancer-directive.js';
import { Ring } from './ring.js';

/** After so many peers that cannot be asked, round robin takes over. */
const MAX_TRIES = 20;

/** Compatible with Cache::Memcached. nginx: ngx_http_upstream_get_hash_peer. */
class HashPicker extends RoundRobinPicker {
  readonly #key: string;
  #hash = 0;
  #rehash = 0;
  #tries = 0;

  constructor(r: Request, set: PeerSet, key: string) {
    super(r, set);
    this.#key = key;
  }

  override choose(): Peer | null {
    const { set } = this;
    if (this.#tries > MAX_TRIES || set.peers.length < 2 || this.#key === '') return super.choose();
    const now = nowSeconds();
    const sticky = this.sticky();
    if (sticky !== null) return this.take(sticky, now);
    for (;;) {
      const text = this.#rehash > 0 ? this.#rehash + this.#key : this.#key;
      this.#hash += (crc32(text) >>> 16) & 0x7fff;
      this.#rehash++;
      const peer = peerAtWeight(set, this.#hash % set.totalWeight);
      if (!this.wasTried(peer.index) && this.usable(peer, now)) return this.take(peer, now);
      if (++this.#tries > MAX_TRIES) return super.choose();
    }
  }
}

/** Keeps a key at its server when others come and go. nginx: ngx_http_upstream_get_chash_peer. */
class ConsistentPicker extends RoundRobinPicker {
  readonly #key: string;
  readonly #ring: Ring;
  #point: number;
  #tries = 0;

  constructor(r: Request, set: PeerSet, key: string, ring: Ring) {
    super(r, set);
    this.#key = key;
    this.#ring = ring;
    this.#point = ring.find(crc32(key));
  }

  override choose(): Peer | null {
    if (this.#tries > MAX_TRIES || this.#key === '') return super.choose();
    if (this.set.peers.length === 0) return null;
    const now = nowSeconds();
    const sticky = this.sticky();
    if (sticky !== null) return this.take(sticky, now);
    for (;;) {
      const peer = this.#atServer(this.#ring.server(this.#point), now);
      if (peer !== null) return this.take(peer, now);
      this.#point++;
      if (++this.#tries > MAX_TRIES) return super.choose();
    }
  }

  /** Among the addresses of one server, round robin chooses. */
  #atServer(server: string, now: number): Peer | null {
    const { peers } = this.set;
    let best: Peer | null = null;
    let total = 0;
    for (let i = 0; i < peers.length; i++) {
      const peer = peers[i]!;
      if (peer.server !== server || this.wasTried(i) || !this.usable(peer, now)) continue;
      peer.currentWeight += peer.effectiveWeight;
      total += peer.effectiveWeight;
      if (peer.effectiveWeight < peer.weight) peer.effectiveWeight++;
      if (best === null || peer.currentWeight > best.currentWeight) best = peer;
    }
    if (best !== null) best.currentWeight -= total;
    return best;
  }
}

/** The ring is made anew when the group's addresses change. */
function consistent(set: PeerSet, key: ComplexValue<Request>): Balancer {
  let ring = new Ring(set);
  let version = set.config.version;
  return {
    begin(r) {
      if (version !== set.config.version) {
        ring = new Ring(set);
        version = set.config.version;
      }
      return new ConsistentPicker(r, set, key.eval(r), ring);
    },
  };
}

/** Chooses a server by a key. nginx: ngx_http_upstream_hash_module. */
export const hashModule = defineModule({
  name: 'hash',
  main: defineScope<object>({
    fields: {},
    directives: {
      hash: {
        in: In.UPSTREAM,
        args: [1, 2],
        set(_conf, node, ctx) {
          const key = ctx.complex(node.args[0]!);
          const mode = node.args[1];
          if (mode !== undefined && mode !== 'consistent') ctx.fail(`invalid parameter "${mode}"`, { arg: 1 });
          if (mode === undefined) setBalancer(ctx, (set) => ({ begin: (r) => new HashPicker(r, set, key.eval(r)) }), ACCEPTS_ALIKE);
          else setBalancer(ctx, (set) => consistent(set, key), ACCEPTS_ALIKE);
        },
      },
    },
  }),
});
