import type { ComplexValue } from '../../../shared/value/complex.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { sizeOf } from '../../task/size-of.js';
import type { Request } from '../request/request.js';

/** A location's `limit_rate` and `limit_rate_after`. */
export interface Rates {
  limitRate: ComplexValue<Request> | undefined;
  limitRateAfter: ComplexValue<Request> | undefined;
}

export const ratesSlot = new LocationSlot<Readonly<Rates>>();

/** How often a throttled response gets its next piece, in milliseconds. */
const TICK = 200;

/** Spreads a response over time: at most `rate` bytes a second after the first `after` bytes. */
export class RatePacer {
  readonly #rate: number;
  readonly #after: number;
  readonly #start = performance.now();

  constructor(rate: number, after: number) {
    this.#rate = rate;
    this.#after = after;
  }

  /** Bytes of a head that may leave at once, ahead of the pace: what a second lets through. A longer head is paced as the body is. */
  get freeHead(): number {
    return this.#after + this.#rate;
  }

  /** How many more bytes may go out now, when `sent` have. May be negative. */
  allowed(now: number, sent: number): number {
    return Math.floor(this.#after + (this.#rate * (now - this.#start + TICK)) / 1000 - sent);
  }

  /** Milliseconds until the next piece is due. */
  delay(now: number, sent: number): number {
    const behind = sent - this.#after - (this.#rate * (now - this.#start)) / 1000;
    return Math.max(TICK, (behind * 1000) / this.#rate);
  }
}

/** The pacer of a response, or null when its rate is not limited. nginx: the limit_rate part of ngx_http_write_filter. */
export function makePacer(r: Request): RatePacer | null {
  const { limitRate, limitRateAfter } = r.location.conf(ratesSlot);
  if (!r.limitRateSet) {
    r.limitRate = limitRate === undefined ? 0 : sizeOf(r, limitRate.eval(r));
  }
  if (r.limitRate === 0) {
    return null;
  }
  r.limitRateAfter = limitRateAfter === undefined ? 0 : sizeOf(r, limitRateAfter.eval(r));
  return new RatePacer(r.limitRate, r.limitRateAfter);
}
