import { BOUNDS, BUCKETS, quantile } from '../../shared/zone/histogram.js';
import { fisherGreater } from './fisher.js';

/**
 * The decision about a canary. Two questions are asked of the requests that were finished since it began to accept:
 *
 * - 5xx: is the share of answers with a 5xx greater than that of the old workers? Fisher's exact test, one-sided.
 * - time: does a greater share of requests take longer than a bound T than with the old workers, and is the canary's p95 above T? T is
 *   fixed before anything is compared: at least √2 times the old workers' p95 of before, and at least 8 ms, so that caches and connections
 *   which a young process has to fill are no reason. Fisher's exact test again, on the exact counts of the histogram.
 *
 * A test that is repeated finds something sooner or later. So each question may err in 0.5 % of all reloads, and shares that out among its
 * looks: 0.3 % for the one at the end, 0.2 % for all the others together, of which the n-th gets 6/(π²n²). A look comes when the canary's
 * requests have doubled since the last one. By the sum of these bounds a configuration that is as good as the old one passes in at least
 * 99 of 100 reloads, however many looks there are; in fact in more, since the test is conservative.
 *
 * This holds if requests fail independently of each other. Failures that hit all workers at the same time do not matter; a client that
 * repeats one bad request again and again on the canary's connection does. Fewer than five bad requests therefore never decide.
 */

/** The errors that each question may make: at the end, and at all looks before it. */
const AT_END = 0.003;
const BEFORE = 0.002;
/** The canary's requests at the first look. */
const FIRST_LOOK = 50;
/** Fewer bad requests never decide. */
const FEWEST = 5;
/** How many requests of the old workers it takes to say what their p95 is. */
const FOR_BOUND = 100;
/** T is never below this bucket's bound, 8 ms. */
const FIRST_BUCKET = 10;

/** What has been done during some time. `times`: how many requests took how long, by shared/zone/histogram.ts. */
export interface Tally {
  readonly requests: number;
  readonly errors: number;
  readonly times: Float64Array;
}

/** No requests. */
export const nothing = (): Tally => ({ requests: 0, errors: 0, times: new Float64Array(BUCKETS) });

/** Judges one canary. It is told the tallies since it began again and again. */
export class CanaryJudge {
  /** The bucket whose upper bound is T; undefined until the old workers have been seen to do enough. */
  #bound: number | undefined;
  /** What had been done when T was fixed: of later requests alone it is asked whether they exceed it. */
  #boundAt: { readonly canary: Tally; readonly old: Tally } | undefined;
  #looks = 0;
  #next = FIRST_LOOK;

  /** `history`: what the old workers had done before the canary began. */
  constructor(history: Tally) {
    this.#fixBound(history.times, nothing(), nothing());
  }

  /** Looks at the tallies if it is time to. Returns why the canary is worse, or undefined when nothing shows that. */
  look(canary: Tally, old: Tally): string | undefined {
    this.#fixBound(old.times, canary, old);
    if (canary.requests < this.#next) {
      return undefined;
    }
    while (this.#next <= canary.requests) {
      this.#next *= 2;
    }
    const n = ++this.#looks;
    return this.#worse(canary, old, (BEFORE * 6) / (Math.PI * n) ** 2);
  }

  /** The look at the end. */
  last(canary: Tally, old: Tally): string | undefined {
    return this.#worse(canary, old, AT_END);
  }

  #fixBound(times: Float64Array, canary: Tally, old: Tally): void {
    if (this.#bound !== undefined || sum(times) < FOR_BOUND) {
      return;
    }
    const p95 = quantile(times, 0.95);
    const bucket = BOUNDS.findIndex((bound) => bound >= p95);
    this.#bound = Math.max(bucket + 1, FIRST_BUCKET);
    this.#boundAt = { canary: copy(canary), old: copy(old) };
  }

  #worse(canary: Tally, old: Tally, error: number): string | undefined {
    if (canary.errors >= FEWEST && fisherGreater(canary.errors, canary.requests, old.errors, old.requests) <= error) {
      return `it answered ${share(canary.errors, canary.requests)} with 5xx, the old workers ${share(old.errors, old.requests)}`;
    }
    const [bound, at] = [this.#bound, this.#boundAt];
    if (bound === undefined || at === undefined || bound >= BOUNDS.length) {
      return undefined;
    }
    const [all1, all2] = [sum(canary.times) - sum(at.canary.times), sum(old.times) - sum(at.old.times)];
    const [slow1, slow2] = [
      slower(canary.times, bound) - slower(at.canary.times, bound),
      slower(old.times, bound) - slower(at.old.times, bound),
    ];
    if (slow1 >= FEWEST && slow1 > 0.05 * all1 && fisherGreater(slow1, all1, slow2, all2) <= error) {
      const limit = `${BOUNDS[bound]!.toFixed(0)} ms`;
      return `${share(slow1, all1)} took longer than ${limit}, of the old workers ${share(slow2, all2)} (p95 ${p95(canary)}, of the old workers ${p95(old)})`;
    }
    return undefined;
  }
}

/** What was found, for the log. */
export function tallyText({ requests, errors, times }: Tally): string {
  return `${requests} requests, ${errors} of them 5xx${sum(times) === 0 ? '' : `, p95 ${p95({ times })}`}`;
}

const p95 = ({ times }: Pick<Tally, 'times'>): string => `${quantile(times, 0.95).toFixed(1)} ms`;
const share = (part: number, all: number): string => `${part} of ${all} requests (${all === 0 ? 0 : ((100 * part) / all).toFixed(2)}%)`;
const copy = ({ requests, errors, times }: Tally): Tally => ({ requests, errors, times: times.slice() });
const sum = (times: Float64Array): number => times.reduce((all, n) => all + n, 0);

/** How many took longer than the upper bound of a bucket. */
const slower = (times: Float64Array, bucket: number): number => times.subarray(bucket + 1).reduce((all, n) => all + n, 0);
