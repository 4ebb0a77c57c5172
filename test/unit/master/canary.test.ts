import t from 'tap';
import { fisherGreater } from '../../../src/master/canary/fisher.js';
import { CanaryJudge, nothing, type Tally } from '../../../src/master/canary/judge.js';
import { BUCKETS, bucketOf } from '../../../src/shared/zone/histogram.js';

t.test("Fisher's test gives the exact tail", async (t) => {
  // By hand: C(5,k)C(5,5-k)/C(10,5).
  const close = (a: number, b: number) => t.ok(Math.abs(a - b) <= 1e-9 * b, `${a} is ${b}`);
  close(fisherGreater(4, 5, 1, 5), 26 / 252);
  close(fisherGreater(5, 5, 0, 5), 1 / 252);
  close(fisherGreater(1, 10, 0, 90), 0.1);
  close(fisherGreater(3, 10, 0, 90), (10 * 9 * 8) / (100 * 99 * 98));
  t.equal(fisherGreater(0, 10, 5, 90), 1);
  t.equal(fisherGreater(3, 0, 5, 90), 1);
  t.equal(fisherGreater(10, 10, 90, 90), 1);
  t.ok(fisherGreater(500, 1000, 50_000, 1_000_000) < 1e-100);
  t.ok(fisherGreater(50, 1000, 50_000, 1_000_000) > 0.4);
  t.ok(fisherGreater(50, 1000, 50_000, 1_000_000) < 0.6);
  let sum = 0;
  for (let k = 3; k <= 20; k++) {
    sum += choose(20, k) * choose(180, 30 - k);
  }
  close(fisherGreater(3, 20, 27, 180), sum / choose(200, 30));
});

function choose(n: number, k: number): number {
  let product = 1;
  for (let i = 1; i <= k; i++) {
    product = (product * (n - k + i)) / i;
  }
  return product;
}

/** Numbers from 0 to 1 that are the same in each run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What a worker's requests are like. */
interface Traffic {
  /** The share that is answered with a 5xx. */
  readonly errors: number;
  /** Milliseconds that a request takes. */
  readonly time: (random: () => number) => number;
}

/** Requests that arrive between two looks of the canary; the old workers get nine times as many. */
const STEP = 50;

/** One reload: the canary has `requests` until its end. Returns why it failed. */
function reload(random: () => number, canary: Traffic, old: Traffic, requests: number): string | undefined {
  const [one, all] = [nothing(), nothing()] as { -readonly [name in keyof Tally]: Tally[name] }[];
  const serve = (tally: { requests: number; errors: number; times: Float64Array }, traffic: Traffic, count: number): void => {
    tally.requests += count;
    for (let i = 0; i < count; i++) {
      tally.errors += random() < traffic.errors ? 1 : 0;
      tally.times[bucketOf(traffic.time(random))]!++;
    }
  };
  const history = nothing();
  serve({ ...history, times: history.times }, old, 2000);
  const judge = new CanaryJudge(history);
  for (let n = 0; n < requests; n += STEP) {
    serve(one!, canary, STEP);
    serve(all!, old, 9 * STEP);
    const worse = judge.look(one!, all!);
    if (worse !== undefined) {
      return worse;
    }
  }
  return judge.last(one!, all!);
}

/** How many of so many reloads fail. */
function failures(canary: Traffic, old: Traffic, requests: number, runs: number): number {
  const random = seeded(4711);
  let failed = 0;
  for (let run = 0; run < runs; run++) {
    failed += reload(random, canary, old, requests) === undefined ? 0 : 1;
  }
  return failed;
}

/** Most requests take 10 to 20 ms, one in ten up to 200. */
const usual = (random: () => number): number => (random() < 0.9 ? 10 + 10 * random() : 200 * random());
const quick = (): number => 1;

t.test('a good configuration passes in 99 of 100 reloads', async (t) => {
  for (const errors of [0, 0.001, 0.01, 0.05]) {
    const failed = failures({ errors, time: usual }, { errors, time: usual }, 2000, 200);
    t.ok(failed <= 2, `${failed} of 200 at ${errors * 100}% of 5xx`);
  }
});

t.test('one that answers 1 % with 500 is found in nine of ten reloads', async (t) => {
  const failed = failures({ errors: 0.01, time: quick }, { errors: 0, time: quick }, 1000, 100);
  t.ok(failed >= 90, `${failed} of 100, where the old one has none`);
});

t.test('one that answers 1 % more with 500 is found in nine of ten reloads, where others answer 5 % so', async (t) => {
  const failed = failures({ errors: 0.06, time: quick }, { errors: 0.05, time: quick }, 11_000, 40);
  t.ok(failed >= 36, `${failed} of 40`);
});

t.test('one that is slow is found', async (t) => {
  const slow = (random: () => number): number => usual(random) + (random() < 0.1 ? 400 : 0);
  const failed = failures({ errors: 0, time: slow }, { errors: 0, time: usual }, 1000, 50);
  t.ok(failed >= 45, `${failed} of 50`);
  const twice = (random: () => number): number => 0.5 + 2 * random();
  t.equal(failures({ errors: 0, time: twice }, { errors: 0, time: quick }, 1000, 20), 0, 'milliseconds do not matter');
});

t.test('one that breaks at once ends at the first look, in words', async (t) => {
  const judge = new CanaryJudge(nothing());
  const times = new Float64Array(BUCKETS);
  t.equal(judge.look({ requests: 49, errors: 49, times }, { requests: 400, errors: 0, times }), undefined);
  t.equal(
    judge.look({ requests: 60, errors: 30, times }, { requests: 400, errors: 4, times }),
    'it answered 30 of 60 requests (50.00%) with 5xx, the old workers 4 of 400 requests (1.00%)',
  );
});

t.test('a few bad requests never decide', async (t) => {
  const judge = new CanaryJudge(nothing());
  const times = new Float64Array(BUCKETS);
  t.equal(judge.last({ requests: 4, errors: 4, times }, { requests: 1_000_000, errors: 0, times }), undefined);
  t.match(judge.last({ requests: 5, errors: 5, times }, { requests: 1_000_000, errors: 0, times }), /5 of 5/);
});

t.test('the bound for times is fixed before anything is compared', async (t) => {
  const judge = new CanaryJudge(nothing());
  const at = (ms: number, n: number, more = new Float64Array(BUCKETS)) => {
    const times = more.slice();
    times[bucketOf(ms)]! += n;
    return times;
  };
  // At the first look the old workers have done enough for a bound; what the canary did before does not count.
  const [slow, fast] = [at(500, 50), at(10, 200)];
  t.equal(judge.look({ requests: 50, errors: 0, times: slow }, { requests: 200, errors: 0, times: fast }), undefined);
  const worse = judge.look({ requests: 100, errors: 0, times: at(500, 50, slow) }, { requests: 400, errors: 0, times: at(10, 200, fast) });
  t.match(worse, /^50 of 50 requests \(100.00%\) took longer than 16 ms, of the old workers 0 of 200 requests \(0.00%\) \(p95 \d+/);
});
