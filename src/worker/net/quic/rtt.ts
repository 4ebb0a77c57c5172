/** The least that a timer is set to, in milliseconds. */
const GRANULARITY = 1;
const INITIAL = 333;

/** How long packets take there and back, in milliseconds (RFC 9002, 5). */
export class Rtt {
  latest = 0;
  min = Number.POSITIVE_INFINITY;
  smoothed = INITIAL;
  variation = INITIAL / 2;
  /** When the first sample was taken; infinite before. */
  firstAt = Number.POSITIVE_INFINITY;

  /** `ackDelay`: how long the peer says that it has waited. */
  sample(ms: number, ackDelay: number, now: number): void {
    this.latest = ms;
    if (this.firstAt === Number.POSITIVE_INFINITY) {
      this.firstAt = now;
      this.min = ms;
      this.smoothed = ms;
      this.variation = ms / 2;
      return;
    }
    this.min = Math.min(this.min, ms);
    const adjusted = ms >= this.min + ackDelay ? ms - ackDelay : ms;
    this.variation = 0.75 * this.variation + 0.25 * Math.abs(this.smoothed - adjusted);
    this.smoothed = 0.875 * this.smoothed + 0.125 * adjusted;
  }

  /** After so long without an acknowledgement something is sent to ask for one. */
  probeTimeout(maxAckDelay: number): number {
    return this.smoothed + Math.max(4 * this.variation, GRANULARITY) + maxAckDelay;
  }

  /** A packet is lost when one that left so much later was acknowledged. */
  get lossDelay(): number {
    return Math.max(1.125 * Math.max(this.latest, this.smoothed), GRANULARITY);
  }

  /** A new path is a new measure. */
  reset(): void {
    this.latest = 0;
    this.min = Number.POSITIVE_INFINITY;
    this.smoothed = INITIAL;
    this.variation = INITIAL / 2;
    this.firstAt = Number.POSITIVE_INFINITY;
  }
}
