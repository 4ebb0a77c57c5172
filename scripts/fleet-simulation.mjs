// Simulates limits that machines share: requests of keys, some much more frequent than others, come to the workers of many machines, each
// of
// which decides as modules/limit-req does. Says what reaches the store, how it spreads over the parts of a cluster, and whether more was
// admitted than a single machine would admit. docs/guides/fleet.md has the figures.
//   node scripts/fleet-simulation.mjs [machines=100] [workers=8] [rps=1000000] [keys=200000] [zipf=1.1] [rate=10] [burst=20] [parts=16]
//     [seconds=3] [rtt=0.5] [tick=1] [batch=1]
const given = Object.fromEntries(process.argv.slice(2).map((word) => word.split('=')));
/** @param {string} name @param {number} initial */
const number = (name, initial) => Number(given[name] ?? initial);
const machines = number('machines', 100);
const workers = machines * number('workers', 8);
const rps = number('rps', 1_000_000);
const keys = number('keys', 200_000);
const zipf = number('zipf', 1.1);
const rate = number('rate', 10) * 1000;
const burst = number('burst', 20) * 1000;
const parts = number('parts', 16);
const seconds = number('seconds', 3);
/** Milliseconds of one tick of a worker, and to the store and back. */
const tick = number('tick', 1);
const rtt = number('rtt', 0.5);

// A generator with a seed: two runs have the same figures.
let seed = 12345;
const random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};

const weights = new Float64Array(keys);
let sum = 0;
for (let i = 0; i < keys; i++) {
  sum += (i + 1) ** -zipf;
  weights[i] = sum;
}
const pickKey = () => {
  const at = random() * sum;
  let low = 0;
  let high = keys - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (weights[middle] < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
};
/** @param {number} key */
const partOf = (key) => (Math.imul(key + 1, 2654435761) >>> 0) % parts;

/** The store's buckets: what each held when it was last added to, and when. */
const held = new Float64Array(keys);
const last = new Float64Array(keys).fill(-1);
/** @type {Map<number, [held: number, at: number]>[]} What each worker knows of full buckets. */
const known = Array.from({ length: workers }, () => new Map());
const decisions = new Float64Array(parts);
const calls = new Float64Array(parts);
let requests = 0;
let admitted = 0;
let refusedKnown = 0;
const admittedOf = new Float64Array(keys);

/** The store decides, at a time in milliseconds. @param {number} key @param {number} now @returns {[boolean, number]} */
const decide = (key, now) => {
  const excess = last[key] < 0 ? 0 : Math.max(0, held[key] - Math.floor((rate * (now - last[key])) / 1000) + 1000);
  if (excess > burst) {
    return [false, excess - 1000];
  }
  held[key] = excess;
  last[key] = now;
  return [true, excess];
};

const perTick = (rps * tick) / 1000;
const asked = new Map();
for (let now = 0; now < seconds * 1000; now += tick) {
  asked.clear();
  for (let n = 0; n < perTick; n++) {
    requests++;
    const key = pickKey();
    const worker = Math.floor(random() * workers);
    const level = known[worker].get(key);
    if (level !== undefined) {
      if (level[0] - Math.floor((rate * (now - level[1])) / 1000) + 1000 > burst) {
        refusedKnown++;
        continue;
      }
      known[worker].delete(key);
    }
    // Requests of one tick that ask the same part are one call of a single store; in a cluster each key is one.
    const part = partOf(key);
    const call = parts === 1 ? worker : worker * keys + key;
    if (!asked.has(call)) {
      asked.set(call, true);
      calls[part]++;
    }
    decisions[part]++;
    const [yes, after] = decide(key, now + rtt / 2);
    if (yes) {
      admitted++;
      admittedOf[key]++;
    }
    if (after + 1000 > burst) {
      known[worker].set(key, [after, now + rtt]);
    }
  }
}

// One bucket may admit its burst, one more, and what leaks.
let over = 0;
for (let key = 0; key < keys; key++) {
  if (admittedOf[key] > burst / 1000 + 1 + (rate / 1000) * seconds + 1) {
    over++;
  }
}
const perSecond = (/** @type {number} */ n) => Math.round(n / seconds).toLocaleString('en');
const total = (/** @type {Float64Array} */ list) => list.reduce((a, b) => a + b, 0);
console.log(`${machines} machines, ${workers} workers, ${perSecond(requests)} requests a second over ${keys} keys (zipf ${zipf})`);
console.log(`limit ${rate / 1000}r/s burst ${burst / 1000}; ${parts} ${parts === 1 ? 'store' : 'parts of a cluster'}`);
console.log(`admitted        ${perSecond(admitted)} a second; keys that were admitted more often than one machine would: ${over}`);
console.log(
  `refused by what was known ${perSecond(refusedKnown)} a second (${((refusedKnown / requests) * 100).toFixed(1)} % of all requests)`,
);
console.log(`decisions of the store    ${perSecond(total(decisions))} a second in ${perSecond(total(calls))} calls`);
console.log(
  `busiest part    ${perSecond(Math.max(...decisions))} decisions a second, ${((Math.max(...decisions) / total(decisions)) * parts).toFixed(2)} times its share`,
);
