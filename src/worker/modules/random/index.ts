import { In } from '../../../shared/config/context.js';
import { defineModule, defineSharedScope } from '../../module.js';
import { DrawingPicker } from '../../upstream/balancing/drawing-picker.js';
import type { Peer } from '../../upstream/balancing/peer.js';
import { peerAtWeight } from '../../upstream/balancing/round-robin.js';
import { ACCEPTS_ALIKE, setBalancer } from '../../upstream/group/balancer-directive.js';

// nginx: ngx_http_upstream_get_random_peer, ngx_http_upstream_get_random2_peer.
class RandomPicker extends DrawingPicker {
  /** Chooses the less busy of two. */
  two = false;
  /** The first of the two. */
  #first: Peer | null = null;

  override choose(): Peer | null {
    this.#first = null;
    return super.choose();
  }

  override draw(now: number): Peer | null {
    const { set } = this;
    const first = this.#first;
    const peer = peerAtWeight(set, Math.floor(Math.random() * set.totalWeight));
    if (peer === first || this.wasTried(peer.index) || !this.usable(peer, now)) {
      return null;
    }
    if (!this.two) {
      return peer;
    }
    if (first !== null) {
      return peer.conns * first.weight > first.conns * peer.weight ? first : peer;
    }
    this.#first = peer;
    return this.draw(now);
  }
}

/** Chooses a server at random. nginx: ngx_http_upstream_random_module. */
export const randomModule = defineModule({
  name: 'random',
  main: defineSharedScope<object>({
    fields: {},
    directives: {
      random: {
        in: In.UPSTREAM | In.STREAM_UPSTREAM,
        args: [0, 1, 2],
        set(_conf, node, ctx) {
          const [mode, method] = node.args;
          if (mode !== undefined && mode !== 'two') {
            ctx.fail(`invalid parameter "${mode}"`, { arg: 0 });
          }
          if (method !== undefined && method !== 'least_conn') {
            ctx.fail(`invalid parameter "${method}"`, { arg: 1 });
          }
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
