import t from 'tap';
import { difference, join, type Sample } from '../../../src/worker/status/history-sample.js';

t.test('names that every object has are names as any other', async (t) => {
  const names = ['constructor', 'toString', '__proto__', 'shop'];
  const rows = Object.fromEntries(names.map((name) => [name, [1, 2]]));
  const sample: Sample = { connections: [0, 0], servers: rows, peers: rows, caches: rows, limits: rows, tls: [0, 0], reasons: rows };
  const two = join([sample, sample]);
  t.strictSame(
    Object.entries(two.servers),
    names.map((name) => [name, [2, 4]]),
  );
  t.strictSame(Object.entries(difference(two, sample).peers), Object.entries(rows));
  t.strictSame(Object.keys(difference(sample, undefined).reasons), names);
});
