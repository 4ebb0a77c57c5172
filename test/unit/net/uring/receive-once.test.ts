// What Linux before 6.17 has of the ring: an operation that receives does so once. The tests of the ring are run once more so.
Object.assign(globalThis, { RECEIVES_ONCE: true });
const t = (await import('tap')).default;
const { ring } = await import('../../../support/ring.js');
if (typeof ring === 'object') {
  t.equal(ring.receiveMost, 0);
}
await import('./fuzz.test.js');
await import('./socket.test.js');
