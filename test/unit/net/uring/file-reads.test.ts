import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { loadNative, type Native } from '../../../../src/shared/native/native.js';
import { UringEngine } from '../../../../src/shared/net/uring/engine.js';
import { type FileTaker, PRESENT_MOST, READ_MOST } from '../../../../src/worker/net/file-reads.js';
import { ReadMemory } from '../../../../src/worker/net/uring/read-memory.js';
import { UringFileReads } from '../../../../src/worker/net/uring/uring-file-reads.js';
import { Dice, faultyEngine } from '../../../support/faulty-ring.js';
import { needsRing, ring } from '../../../support/ring.js';
import { waitFor } from '../../../support/wait.js';

const engine = ring as UringEngine;
const BROKEN = { name: 'RingError' };
const [EAGAIN, EIO, EOPNOTSUPP] = [-11, -5, -95];

const content = Buffer.from(Array.from({ length: 3_000_001 }, (_, i) => (i * 7 + (i >> 8)) % 251));
const folder = mkdtempSync(join(tmpdir(), 'sluice-reads-'));
const path = join(folder, 'file');
writeFileSync(path, content);
const fd = openSync(path, 'r+');

/** Notes what it is told, and that it was told once. */
class Taker implements FileTaker {
  bytes: Buffer | null = null;
  error: Error | null = null;
  told = 0;
  readonly #right: (bytes: Buffer) => void;

  constructor(right: (bytes: Buffer) => void = () => {}) {
    this.#right = right;
  }

  fileRead(bytes: Buffer): void {
    this.told++;
    this.bytes = bytes;
    this.#right(bytes);
  }

  fileFailed(error: Error): void {
    this.told++;
    this.error = error;
  }
}

t.test('a piece is one side’s at a time', needsRing, async (t) => {
  const memory = new ReadMemory(loadNative() as Native, 2, 4096);
  const [a, b] = [memory.take(), memory.take()];
  t.equal(memory.take(), -1, 'there are no more');
  t.equal(memory.address(b, 96, 4000) - memory.address(b, 0, 0), 96);
  for (const [from, length] of [
    [0, 4097],
    [1, 4096],
    [-1, 1],
    [0, -1],
    [Number.NaN, 1],
  ] as const) {
    t.throws(() => memory.address(a, from, length), BROKEN);
  }
  t.throws(() => memory.release(a), BROKEN, 'it is the kernel’s');
  t.throws(() => memory.lend(a, 4097), BROKEN);
  t.equal(memory.lend(a, 10).length, 10);
  t.throws(() => memory.lend(a, 10), BROKEN, 'it is lent already');
  t.throws(() => memory.address(a, 0, 1), BROKEN, 'nor is it the kernel’s any more');
  memory.release(a);
  t.throws(() => memory.release(a), BROKEN);
  t.throws(() => memory.address(a, 0, 1), BROKEN);
  t.throws(() => memory.lend(7, 1), BROKEN, 'there is no such');
  t.equal(memory.inUse, 1);
  t.equal(memory.take(), a);
});

t.test('what was read is lent, or kept', needsRing, async (t) => {
  const reads = new UringFileReads(engine);
  const [before, inUse] = [engine.endpoints, () => reads.memory.inUse];
  const lent = new Taker((bytes) => {
    t.ok(bytes.equals(content.subarray(3, 3 + READ_MOST)));
    t.equal(inUse() > 0, true, 'nobody else may have the memory while it is lent');
  });
  const [kept, end, behind, none] = [new Taker(), new Taker(), new Taker(), new Taker()];
  reads.read(fd, 3, READ_MOST, false, lent);
  t.equal(lent.told, 0, 'nobody is told before the call returns');
  reads.read(fd, 1_000_000, 70_000, true, kept);
  reads.read(fd, content.length - 10, 100, true, end);
  reads.read(fd, content.length + 10, 100, true, behind);
  reads.read(fd, 0, 0, true, none);
  const all = [lent, kept, end, behind, none];
  await waitFor(() => all.every(({ told }) => told > 0));
  t.ok(kept.bytes!.equals(content.subarray(1_000_000, 1_070_000)));
  t.ok(end.bytes!.equals(content.subarray(-10)));
  t.equal(behind.bytes!.length, 0);
  t.equal(none.bytes!.length, 0);
  t.ok(all.every(({ told }) => told === 1));
  t.equal(inUse(), 0);
  t.equal(engine.endpoints, before);
});

t.test('what the system has in memory', needsRing, async (t) => {
  const reads = new UringFileReads(engine);
  // A file system that cannot tell has nothing at once.
  const bytes = reads.present(fd, 12_345, PRESENT_MOST);
  t.ok(bytes === null || bytes.equals(content.subarray(12_345, 12_345 + PRESENT_MOST)));
  t.equal(reads.present(fd, content.length - 10, 100), null, 'the end of the file');
  t.equal(reads.sendable(fd, 0, content.length), true);
  t.throws(() => reads.present(fd, 0, PRESENT_MOST + 1), BROKEN);
  t.equal(reads.present(9999, 0, 100), null);
  for (const [code, sendable] of [
    [EAGAIN, false],
    [EOPNOTSUPP, true],
    [EIO, true],
  ] as const) {
    const cold = new UringFileReads(new UringEngine({ ...(loadNative() as Native), readPresent: () => code }));
    t.equal(cold.present(fd, 0, 100), null);
    t.equal(cold.sendable(fd, 0, 100), sendable);
  }
});

t.test('more than there is memory for: each has its turn, and who waits may leave', needsRing, async (t) => {
  const reads = new UringFileReads(engine);
  const takers = Array.from({ length: 200 }, (_, i) => new Taker((bytes) => t.ok(bytes.equals(content.subarray(i, i + 50_000)))));
  for (const [i, taker] of takers.entries()) {
    reads.read(fd, i, 50_000, i % 2 === 0, taker);
  }
  t.equal(reads.withdraw(takers[0]!), false, 'it has begun');
  t.equal(reads.withdraw(takers[150]!), true);
  t.equal(reads.withdraw(takers[150]!), false);
  await waitFor(() => takers.every(({ told }, i) => told > 0 || i === 150));
  t.equal(takers[150]!.told, 0);
  t.equal(reads.memory.inUse, 0);
});

t.test('errors', needsRing, async (t) => {
  const reads = new UringFileReads(engine);
  const directory = openSync(folder, 'r');
  const failed = new Taker();
  reads.read(directory, 0, 100, false, failed);
  await waitFor(() => failed.told > 0);
  closeSync(directory);
  t.match(failed.error, { code: 'EISDIR', syscall: 'read' });
  t.equal(reads.memory.inUse, 0);
});

t.test('a taker that throws gives its memory back', needsRing, async (t) => {
  const own = new UringEngine(loadNative() as Native);
  const reads = new UringFileReads(own);
  const next = new Taker();
  const taker = new Taker(() => {
    throw new Error('on purpose');
  });
  reads.read(fd, 0, 100, false, taker);
  const others = Array.from({ length: 8 }, () => new Taker());
  for (const other of others) {
    reads.read(fd, 0, 100, false, other);
  }
  t.throws(() => own.run(), { message: 'on purpose' });
  reads.read(fd, 0, 100, false, next);
  await waitFor(() => {
    own.run();
    return next.told > 0;
  });
  t.ok(others.every(({ told }) => told === 1));
  t.equal(reads.memory.inUse, 0);
  t.equal(own.endpoints, 0);
});

t.test('no fault loses or mixes up what was read', needsRing, async (t) => {
  const { ring: faulty, engine: on } = faultyEngine(new Dice(Number(process.env.SLUICE_TEST_SEED ?? 1)));
  const reads = new UringFileReads(on);
  for (const [faults, fatal] of [
    [5, false],
    [2, false],
    [3, true],
  ] as const) {
    Object.assign(faulty, { faults, fatal });
    const takers = Array.from({ length: 300 }, (_, i) => {
      const size = 1 + ((i * 7919) % READ_MOST);
      const taker = new Taker((bytes) => t.ok(bytes.equals(content.subarray(i * 1000, i * 1000 + size))));
      reads.read(fd, i * 1000, size, i % 3 === 0, taker);
      return taker;
    });
    await waitFor(() => takers.every(({ told }) => told > 0));
    t.ok(takers.every(({ told }) => told === 1));
    const errors = takers.filter(({ error }) => error !== null);
    t.equal(errors.length > 0, fatal);
    t.ok(errors.every(({ error }) => /EIO|ECANCELED/.test(error!.message)));
  }
  t.ok(faulty.counts['short read']! > 0);
  t.equal(reads.memory.inUse, 0);
  t.equal(on.endpoints, 0);
});

t.test('a file that shrinks', needsRing, async (t) => {
  const reads = new UringFileReads(engine);
  const taker = new Taker();
  reads.read(fd, 1000, 1000, true, taker);
  ftruncateSync(fd, 1500);
  await waitFor(() => taker.told > 0);
  t.ok(taker.bytes!.equals(content.subarray(1000, 1500)));
});

t.teardown(() => {
  rmSync(folder, { recursive: true });
  process.exit();
});
