import { In } from '../../../shared/config/context.js';
import { addressBytes } from '../../http/syntax/address-bytes.js';
import { defineModule, defineScope } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import { DrawingPicker } from '../../upstream/balancing/drawing-picker.js';
import type { Peer, PeerSet } from '../../upstream/balancing/peer.js';
import { peerAtWeight } from '../../upstream/balancing/round-robin.js';
import { ACCEPTS_ALIKE, setBalancer } from '../../upstream/group/balancer-directive.js';

class IpHashPicker extends DrawingPicker {
  readonly #address: string;
  #hash = 89;

  constructor(r: ClientTask, set: PeerSet) {
    super(r, set);
    const bytes = addressBytes(r.connection.remoteAddress);
    // A network of 256 IPv4 addresses counts as one client, all of IPv6 in full, and unix sockets as one.
    this.#address = bytes.length === 4 ? bytes.slice(0, 3) : bytes.length === 16 ? bytes : '\0\0\0';
  }

  // nginx: ngx_http_upstream_get_ip_hash_peer.
  override draw(now: number): Peer | null {
    const { set } = this;
    for (let i = 0; i < this.#address.length; i++) {
      this.#hash = (this.#hash * 113 + this.#address.charCodeAt(i)) % 6271;
    }
    const peer = peerAtWeight(set, this.#hash % set.totalWeight);
    return this.wasTried(peer.index) || !this.usable(peer, now) ? null : peer;
  }
}

/** Sends a client's requests to the same server. nginx: ngx_http_upstream_ip_hash_module. */
export const ipHashModule = defineModule({
  name: 'ip_hash',
  main: defineScope<object>({
    fields: {},
    directives: {
      ip_hash: {
        in: In.UPSTREAM,
        args: 0,
        set: (_conf, _node, ctx) => setBalancer(ctx, (set) => ({ begin: (r) => new IpHashPicker(r, set) }), ACCEPTS_ALIKE),
      },
    },
  }),
});
