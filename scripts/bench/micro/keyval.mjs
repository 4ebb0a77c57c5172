// What a look-up in a keyval zone of so many pairs costs: each in a tick of its own, when the zone is asked whether it has changed, and as
// one of several in a tick. Prints microseconds of CPU time.
//
//   node scripts/bench/micro/keyval.mjs [PAIRS]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleSources } from '../bundle.mjs';
import { measure } from './timing.mjs';

const outfile = await bundleSources(
  'keyval',
  `export { ZoneSet } from './shared/zone/zone-set.js';
export { SqliteZoneStore } from './shared/zone/store.js';
export { httpKeyvals } from './worker/lookup/keyval-zone.js';
`,
);
const { ZoneSet, SqliteZoneStore, httpKeyvals } = await import(outfile);

const pairs = Number(process.argv[2] ?? 10_000);
const folder = mkdtempSync(join(tmpdir(), 'keyval-'));
const log = { level: 0, log: (_level, text) => console.error(text) };
const KEYS = {
  string: (i) => `customer-${i}`,
  prefix: (i) => `/path/${i}/${'x'.repeat(i % 20)}`,
  ip: (i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}${i % 8 === 0 ? '/24' : ''}`,
};
const set = new ZoneSet(folder, undefined, log);
for (const [type, keyOf] of Object.entries(KEYS)) {
  const ref = { name: type, kind: httpKeyvals, bytes: 64 << 20, data: { type, timeout: 0, state: undefined } };
  const plan = set.prepare([ref]);
  const store = new SqliteZoneStore(plan, [ref], 1, log);
  const zone = store.open(ref);
  zone.start(log);
  zone.change((changes) => {
    for (let i = 0; i < pairs; i++) {
      changes.put(keyOf(i), { value: `value-${i}`, expires: Number.POSITIVE_INFINITY });
    }
  });
  const asked = Array.from({ length: 1000 }, (_, i) => keyOf(Math.floor((i * pairs) / 1000)));
  measure(`${type}: the first look-up of a tick`, 100_000, (i) => {
    zone.tickEnded();
    zone.find(asked[i % 1000]);
  });
  measure(`${type}: another one in the same tick`, 100_000, (i) => zone.find(asked[i % 1000]));
  store.close();
}
set.close();
rmSync(folder, { recursive: true, force: true });
