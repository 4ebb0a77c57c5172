import { nowSeconds } from '../../../shared/time/unix-time.js';
import type { Peer } from './peer.js';
import { RoundRobinPicker } from './round-robin.js';

/** After so many peers that cannot be asked, round robin takes over. */
const MAX_TRIES = 20;

/** Draws one peer after the other, by a key or by chance, until one can be asked. */
export abstract class DrawingPicker extends RoundRobinPicker {
  /** Round robin chooses among fewer peers than that. */
  least = 2;
  #tries = 0;

  /** The next peer in this way of choosing; null when it cannot be asked. */
  abstract draw(now: number): Peer | null;

  /** Leaves this request to round robin. */
  drawNoMore(): void {
    this.#tries = MAX_TRIES + 1;
  }

  override choose(): Peer | null {
    if (this.#tries > MAX_TRIES || this.set.peers.length < this.least) {
      return super.choose();
    }
    const now = nowSeconds();
    const sticky = this.sticky();
    if (sticky !== null) {
      return this.take(sticky, now);
    }
    for (;;) {
      const peer = this.draw(now);
      if (peer !== null) {
        return this.take(peer, now);
      }
      if (++this.#tries > MAX_TRIES) {
        return super.choose();
      }
    }
  }
}
