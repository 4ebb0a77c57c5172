import t from 'tap';
import { loadNative, type Native } from '../../../../src/shared/native/native.js';
import { kernelTooOld } from '../../../../src/shared/net/engine/trial.js';
import { Region } from '../../../../src/shared/net/uring/memory.js';
import { ReceiveBuffers } from '../../../../src/shared/net/uring/receive-buffers.js';
import type { Ring } from '../../../../src/shared/net/uring/ring.js';
import { SendSlots, SLOT } from '../../../../src/shared/net/uring/send-slots.js';

const BROKEN = { name: 'RingError' };
const native = loadNative();
const skip = typeof native === 'string' && native;

t.test('no address lies outside of a region', { skip }, async (t) => {
  const region = Region.map(native as Native, 4096);
  const first = region.address(0, 4096);
  t.equal(region.address(96, 4000), first + 96);
  for (const [offset, length] of [
    [0, 4097],
    [4096, 1],
    [-1, 1],
    [0, -1],
    [Number.NaN, 1],
    [0, Number.NaN],
    [1e300, 1],
  ] as const) {
    t.throws(() => region.address(offset, length), BROKEN);
  }
});

t.test("a slot is one owner's at a time, and nobody reaches beyond it", { skip }, async (t) => {
  const slots = new SendSlots(native as Native);
  const [a, b] = [slots.take(), slots.take()];
  t.not(a, b);
  slots.putText(a, SLOT - 1, 'x');
  t.throws(() => slots.putText(a, SLOT - 1, 'xy'), BROKEN);
  t.throws(() => slots.put(a, -1, Buffer.from('x'), 0, 1), BROKEN);
  t.throws(() => slots.address(a, SLOT + 1), BROKEN);
  for (const [start, end] of [
    [0, 4],
    [-1, 2],
    [2, 1],
    [4, 4],
    [0, Number.NaN],
  ] as const) {
    t.throws(() => slots.put(a, 8, Buffer.from('abc'), start, end), BROKEN, `nothing of before is sent for the bytes ${start} to ${end}`);
  }
  t.equal(slots.inUse, 2);
  slots.release(a);
  t.throws(() => slots.release(a), BROKEN, 'it is given back once');
  t.throws(() => slots.address(a, 1), BROKEN, 'and not used afterwards');
  t.throws(() => slots.putText(a, 0, 'x'), BROKEN);
  t.equal(slots.take(), a, 'the latest released is the next');
  const many = Array.from({ length: 1000 }, () => slots.take());
  t.equal(new Set([a, b, ...many]).size, 1002, 'there are more when all are in use');
});

t.test('a receive buffer is either ours or the kernel’s', { skip }, async (t) => {
  const buffers = new ReceiveBuffers(native as Native, { useBuffers() {} } as unknown as Ring, 0, 4, 4096);
  t.throws(() => buffers.give(0), BROKEN, 'the kernel has it already');
  const piece = buffers.take(3);
  t.equal(piece.length, 4096);
  t.throws(() => buffers.take(3), BROKEN, 'it is filled once');
  t.throws(() => buffers.take(4), BROKEN, 'and there is no such');
  buffers.give(3);
  t.throws(() => buffers.give(3), BROKEN);
});

t.test('kernels', async (t) => {
  t.match(kernelTooOld('6.0.19-generic'), /^Linux 6\.0\.19-generic is older than 6\.1$/);
  t.match(kernelTooOld('5.15.0'), /older/);
  for (const version of ['6.1.0', '6.18.44', '7.0', '10.0.0-rc1']) {
    t.equal(kernelTooOld(version), undefined);
  }
});
