import t from 'tap';
import { slabCapacity, slabCost } from '../../../src/shared/zone/slab.js';

t.test('slabCost() is the next power of two, then whole pages', async (t) => {
  for (const [size, cost] of [
    [1, 8],
    [40, 64],
    [64, 64],
    [65, 128],
    [84, 128],
    [2048, 2048],
    [2049, 4096],
    [65616, 17 * 4096],
  ]) {
    t.equal(slabCost(size!), cost, String(size));
  }
});

t.test("slabCapacity() fits as many states as nginx's documentation promises", async (t) => {
  t.ok(Math.abs(slabCapacity(1 << 20) / 64 - 16_000) < 400, 'about 16 thousand of 64 bytes in 1 MB');
  t.ok(Math.abs(slabCapacity(1 << 20) / 128 - 8_000) < 200, 'about 8 thousand of 128 bytes in 1 MB');
  t.equal(slabCapacity(32768) / 4096, 6, 'the smallest zone');
  t.equal(slabCapacity(0), 0);
});
