import { In } from '../../../shared/config/context.js';
import { nowSeconds } from '../../../shared/time/unix-time.js';
import { defineModule, defineSharedScope } from '../../module.js';
import { chooseLeast } from '../../upstream/balancing/least-choice.js';
import type { Peer } from '../../upstream/balancing/peer.js';
import { RoundRobinPicker } from '../../upstream/balancing/round-robin.js';
import { setBalancer } from '../../upstream/group/balancer-directive.js';
import { ACCEPTS_ALL } from '../../upstream/group/group-config.js';

const connections = (peer: Peer): number => peer.conns;

class LeastConnPicker extends RoundRobinPicker {
  override choose(): Peer | null {
    const now = nowSeconds();
    const best = this.sticky() ?? chooseLeast(this, now, connections);
    return best === null ? null : this.take(best, now);
  }
}

/** Asks the server with the fewest connections for its weight. nginx: ngx_http_upstream_least_conn_module. */
export const leastConnModule = defineModule({
  name: 'least_conn',
  main: defineSharedScope<object>({
    fields: {},
    directives: {
      least_conn: {
        in: In.UPSTREAM | In.STREAM_UPSTREAM,
        args: 0,
        set: (_conf, _node, ctx) => setBalancer(ctx, (set) => ({ begin: (r) => new LeastConnPicker(r, set) }), ACCEPTS_ALL),
      },
    },
  }),
});
