import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type FileTaker, READ_MOST } from '../../../src/worker/net/file-reads.js';
import { ThreadFileReads } from '../../../src/worker/net/thread-file-reads.js';
import { waitFor } from '../../support/wait.js';

const content = Buffer.from(Array.from({ length: READ_MOST * 2 }, (_, i) => i % 251));
const path = join(t.testdir(), 'file');
writeFileSync(path, content);
const fd = openSync(path, 'r');
t.teardown(() => closeSync(fd));

/** Notes what it is told; `lent` is what the bytes were when it was told. */
class Taker implements FileTaker {
  bytes: Buffer | null = null;
  lent = '';
  error: Error | null = null;

  fileRead(bytes: Buffer): void {
    this.bytes = bytes;
    this.lent = bytes.toString('latin1');
  }

  fileFailed(error: Error): void {
    this.error = error;
  }
}

t.test('buffers go around, and who waits may leave', async (t) => {
  const reads = new ThreadFileReads();
  const takers = Array.from({ length: 100 }, () => new Taker());
  for (const [i, taker] of takers.entries()) {
    reads.read(fd, i * 1000, 1000, false, taker);
  }
  t.equal(reads.withdraw(takers[0]!), false, 'it has begun');
  t.equal(reads.withdraw(takers[99]!), true);
  await waitFor(() => takers.slice(0, 99).every(({ bytes }) => bytes !== null));
  for (const [i, { lent }] of takers.slice(0, 99).entries()) {
    t.equal(lent, content.toString('latin1', i * 1000, i * 1000 + 1000));
  }
  t.equal(takers[99]!.bytes, null);
  t.ok(new Set(takers.map(({ bytes }) => bytes?.buffer)).size <= 9, 'there are few');
});

t.test('what is kept, the end of the file, an error', async (t) => {
  const reads = new ThreadFileReads();
  const [kept, end, failed] = [new Taker(), new Taker(), new Taker()];
  reads.read(fd, 5, READ_MOST, true, kept);
  reads.read(fd, content.length - 10, 100, true, end);
  reads.read(openSync(t.testdir(), 'r'), 0, 100, false, failed);
  await waitFor(() => kept.bytes !== null && end.bytes !== null && failed.error !== null);
  t.ok(kept.bytes!.equals(content.subarray(5, 5 + READ_MOST)));
  t.ok(end.bytes!.equals(content.subarray(-10)));
  t.match(failed.error, { code: 'EISDIR' });
  t.ok(reads.present(fd, 7, 1000)!.equals(content.subarray(7, 1007)));
  t.equal(reads.present(fd, content.length - 10, 100), null, 'it is read to tell what is wrong');
});
