import t from 'tap';
import { SqliteZoneStore } from '../../../src/shared/zone/store.js';
import {
  ADMITTED,
  BUSY,
  elapsed,
  leak,
  NO_ROOM,
  NOT_COUNTED,
  RateDecision,
  rateZone,
  retryAfter,
} from '../../../src/worker/modules/limit-req/zone.js';

const keyOf = (text: string) => ({ text, constant: undefined, eval: () => '' });
const log = { level: 8 as const, log: () => {} };
const UNLIMITED = Number.MAX_SAFE_INTEGER;
const ref = (name: string, rate: number, bytes = 1 << 20) => ({
  name,
  kind: rateZone,
  bytes,
  data: { rate, key: keyOf('$k'), sync: false },
});

/** Zones of the given rates (thousandths of a request a second), in memory. */
function open(t: { teardown(f: () => void): void }, rates: readonly number[], bytes = 1 << 20) {
  const refs = rates.map((rate, i) => ref(`z${i}`, rate, bytes));
  const store = new SqliteZoneStore({ directory: undefined, files: {} }, refs, 1, log);
  t.teardown(() => store.close());
  const zones = refs.map((r) => store.open(r));
  const scope = store.together(refs) as unknown as { run(jobs: unknown[]): boolean };
  const decision = new RateDecision();
  return {
    zones,
    stats: () => store.stats(),
    /** Decides one request by `[burst, delay]` of each zone, at a time. */
    decide(limits: readonly (readonly [number, number])[], keys: readonly string[], now: number): RateDecision {
      const all = limits.map(([burst, delay], i) => ({
        zone: zones[i]!,
        rate: rates[i]!,
        burst: burst * 1000,
        delay: delay * 1000,
      }));
      scope.run([{ work: () => decision.decide(all, keys, now), after() {} }]);
      return decision;
    },
  };
}

t.test('leak() counts whole thousandths, rounded as integer division does', async (t) => {
  t.equal(leak(0, 10_000, 100), 0);
  t.equal(leak(0, 10_000, 99), 10);
  t.equal(leak(5000, 16, 62), 6000, '16 thousandths a second take 62.5 ms for one');
  t.equal(leak(5000, 16, 63), 5999);
  t.equal(leak(7, 1000, 1_000_000_000_000), 0);
});

t.test('elapsed() takes a clock that is behind for the same moment, one far behind for a step', async (t) => {
  t.equal(elapsed(1000, 400), 600);
  t.equal(elapsed(1000, 1001), 0);
  t.equal(elapsed(1000, 61_000), 0);
  t.equal(elapsed(1000, 61_001), 1);
});

t.test('without burst one request passes in each period', async (t) => {
  const { decide } = open(t, [10_000]);
  const at = 1_000_000;
  t.equal(decide([[0, 0]], ['k'], at).code, ADMITTED);
  t.match(decide([[0, 0]], ['k'], at), { code: BUSY, excess: 1000 });
  t.match(decide([[0, 0]], ['k'], at + 99), { code: BUSY, excess: 10 });
  t.match(decide([[0, 0]], ['k'], at + 100), { code: ADMITTED, excess: 0 });
  t.match(decide([[0, 0]], ['other'], at + 100), { code: ADMITTED }, 'keys are apart');
});

t.test('a burst is admitted at once with nodelay, and spread without', async (t) => {
  const { decide } = open(t, [10_000]);
  const codes = Array.from({ length: 60 }, () => decide([[5, UNLIMITED]], ['k'], 500_000).code);
  t.equal(codes.filter((code) => code === ADMITTED).length, 6);
  const delays = Array.from({ length: 7 }, () => {
    const { code, delay } = decide([[5, 0]], ['d'], 500_000);
    return code === ADMITTED ? delay : 'busy';
  });
  t.same(delays, [0, 100, 200, 300, 400, 500, 'busy']);
  const partly = Array.from({ length: 6 }, () => decide([[5, 3]], ['p'], 500_000).delay);
  t.same(partly, [0, 0, 0, 0, 100, 200], 'delay=3');
});

t.test('a long run agrees with exact arithmetic', async (t) => {
  const rate = 3333;
  const { decide } = open(t, [rate]);
  let last = 0n;
  let excess = -1n;
  let now = 1_000_000;
  let seed = 1;
  let mismatches = 0;
  for (let i = 0; i < 3000; i++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    now += seed % 500;
    let expected: number = ADMITTED;
    if (excess < 0n) {
      excess = 0n;
      last = BigInt(now);
    } else {
      const ms = BigInt(now) - last;
      const sum = excess - (BigInt(rate) * ms) / 1000n + 1000n;
      const next = sum < 0n ? 0n : sum;
      if (next > 4000n) {
        expected = BUSY;
      } else {
        excess = next;
        if (ms > 0n) {
          last = BigInt(now);
        }
      }
    }
    if (decide([[4, UNLIMITED]], ['k'], now).code !== expected) {
      mismatches++;
    }
  }
  t.equal(mismatches, 0);
});

t.test('several limits count a request in all zones or, when one refuses, in none', async (t) => {
  const { decide } = open(t, [1000, 1000]);
  const limits = [
    [5, UNLIMITED],
    [1, UNLIMITED],
  ] as const;
  const at = 9_000_000;
  t.equal(decide(limits, ['a', 'b'], at).code, ADMITTED);
  t.equal(decide(limits, ['a', 'b'], at).code, ADMITTED);
  const refused = decide(limits, ['a', 'b'], at);
  t.match(refused, { code: BUSY, excess: 2000 });
  t.equal(refused.limit!.zone.name, 'z1');
  t.match(decide([limits[0]], ['a'], at), { code: ADMITTED }, 'the refused request is not in the first zone');
  const five = Array.from({ length: 5 }, (_, i) => decide(limits, ['a', `c${i}`], at).code);
  t.same(five, [ADMITTED, ADMITTED, ADMITTED, BUSY, BUSY], 'the first zone refuses too');
});

t.test('the longest delay of several counts, and names its zone', async (t) => {
  const { decide } = open(t, [1000, 10_000]);
  const limits = [
    [5, 0],
    [5, 0],
  ] as const;
  t.equal(decide(limits, ['a', 'b'], 5_000_000).delay, 0);
  const second = decide(limits, ['a', 'b'], 5_000_000);
  t.match(second, { delay: 1000, excess: 1000 });
  t.equal(second.limit!.zone.name, 'z0');
});

t.test('an empty key is not counted', async (t) => {
  const { decide } = open(t, [1000, 1000]);
  const limits = [
    [0, 0],
    [0, 0],
  ] as const;
  t.equal(decide(limits, ['', ''], 7_000_000).code, NOT_COUNTED);
  t.equal(decide(limits, ['a', ''], 7_000_000).code, ADMITTED);
  t.match(decide(limits, ['a', ''], 7_000_000), { code: BUSY });
  t.equal(decide(limits, ['', 'b'], 7_000_000).code, ADMITTED);
  t.match(decide(limits, ['', 'b'], 7_000_000), { code: BUSY });
});

t.test('a key larger than its zone is refused', async (t) => {
  const { decide } = open(t, [1000], 32768);
  t.match(decide([[0, 0]], ['x'.repeat(60_000)], 1_000_000), { code: NO_ROOM });
});

t.test('a key that is refused again and again is not forgotten for it', async (t) => {
  const { decide } = open(t, [1], 32768);
  decide([[0, 0]], ['k'], 1_000_000);
  let forgotten = 0;
  for (let i = 0; i < 1000; i++) {
    decide([[0, 0]], [`other ${i}`], 1_000_000);
    if (decide([[0, 0]], ['k'], 1_000_000).code !== BUSY) {
      forgotten++;
    }
  }
  t.equal(forgotten, 0);
});

t.test('retryAfter() is when the bucket will take the request', async (t) => {
  const { decide, zones } = open(t, [1500]);
  const limit = { zone: zones[0]!, rate: 1500, burst: 2000, delay: 0 };
  for (let i = 0; i < 3; i++) {
    decide([[2, UNLIMITED]], ['k'], 4_000_000);
  }
  const { excess } = decide([[2, UNLIMITED]], ['k'], 4_000_000);
  const wait = retryAfter(excess, limit);
  t.equal(decide([[2, UNLIMITED]], ['k'], 4_000_000 + wait - 1).code, BUSY);
  t.equal(decide([[2, UNLIMITED]], ['k'], 4_000_000 + wait).code, ADMITTED);
});

t.test('a reload must not change the key', async (t) => {
  const conflict = (before: string, after: string) =>
    rateZone.conflict!('one', { rate: 1, key: keyOf(before), sync: false }, { rate: 2, key: keyOf(after), sync: false });
  t.equal(conflict('$a', '$a'), undefined);
  t.equal(conflict('$a', '$b'), 'limit_req "one" uses the "$b" key while previously it used the "$a" key');
});

t.test('refused requests show in the numbers of the zone', async (t) => {
  const { decide, stats } = open(t, [1000]);
  for (let i = 0; i < 4; i++) {
    decide([[0, 0]], ['k'], 1_000_000);
  }
  t.match(stats()[0]!.stats, { entries: 1, used: 128, rejections: 3, evictions: 0 });
});
