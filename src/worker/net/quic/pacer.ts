/** How many milliseconds' worth may leave at once: a timer is not more exact. */
const BURST_MS = 2;
const BURST_DATAGRAMS = 16;
/** Faster than the window alone would be, so that a loss of time is made up. */
const GAIN = 1.25;
const SLOW_START_GAIN = 2;

/** Spreads what the window allows over the time that packets take there and back (RFC 9002, 7.7). */
export class Pacer {
  #budget = 0;
  #at = Number.NEGATIVE_INFINITY;

  /** How many bytes may leave now. `rtt` in milliseconds. */
  budget(now: number, window: number, rtt: number, slowStart: boolean, datagram: number): number {
    const rate = ((slowStart ? SLOW_START_GAIN : GAIN) * window) / Math.max(rtt, 0.05);
    const most = Math.max(BURST_DATAGRAMS * datagram, rate * BURST_MS);
    this.#budget = Math.min(most, this.#budget + (now - this.#at) * rate);
    this.#at = now;
    return this.#budget;
  }

  sent(bytes: number): void {
    this.#budget -= bytes;
  }

  /** In how many milliseconds a datagram may leave. */
  wait(window: number, rtt: number, slowStart: boolean, datagram: number): number {
    const rate = ((slowStart ? SLOW_START_GAIN : GAIN) * window) / Math.max(rtt, 0.05);
    return Math.max(0, (datagram - this.#budget) / rate);
  }
}
