import { In } from '../../../shared/config/context.js';
import { nowSeconds } from '../../../shared/lib/unix-time.js';
import { defineModule, defineScope } from '../../module.js';
import type { Peer } from '../../upstream/balancing/peer.js';
import { peerAtWeight, RoundRobinPicker } from '../../upstream/balancing/round-robin.js';
import { ACCEPTS_ALIKE, setBalancer } from '../../upstream/group/balancer-directive.js';

/** After so many peers that cannot be asked, round robin takes over. */
const MAX_TRIES = 20;

// nginx: ngx_http_upstream_get_random_peer, ngx_http_upstream_get_random2_peer.
class RandomPicker extends RoundRobinPicker {
  /** Chooses the less busy of two. */
  two = false;
  #tries = 0;

  override choose(): Peer | null {
    const { set } = this;
    if (this.#tries > MAX_TRIES || set.peers.length < 2) return super.choose();
    const now = nowSeconds();
    const sticky = this.sticky();
    if (sticky !== null) return this.take(sticky, now);
    let first: Peer | null = null;
    for (;;) {
      const peer = peerAtWeight(set, Math.floor(Math.random() * set.totalWeight));
      if (peer !== first && !this.wasTried(peer.index) && this.usable(peer, now)) {
        if (!this.two) return this.take(peer, now);
        if (first !== null) return this.take(peer.conns * first.weight > first.conns * peer.weight ? first : peer, now);
        first = peer;
        continue;
      }
      if (++this.#tries > MAX_TRIES) return super.choose();
    }
  }
}

/** Chooses a server at random. nginx: ngx_http_upstream_random_module. */
export const randomModule = defineModule({
  name: 'random',
  main: defineScope<object>({
    fields: {},
    directives: {
      random: {
        in: In.UPSTREAM,
        args: [0, 1, 2],
        set(_conf, node, ctx) {
          const [mode, method] = node.args;
          if (mode !== undefined && mode !== 'two') ctx.fail(`invalid parameter "${mode}"`, { arg: 0 });
          if (method !== undefined && method !== 'least_conn') ctx.fail(`invalid parameter "${method}"`, { arg: 1 });
          const two = mode === 'two';
          setBalancer(
            ctx,
            (set) => ({
              begin(r) {
                const picker = new RandomPicker(r, set);
                picker.two = two;
                return picker;
              },
            }),
            ACCEPTS_ALIKE,
          );
        },
      },
    },
  }),
});
