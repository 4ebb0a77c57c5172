import t from 'tap';
import { keepBytes } from '../../../src/worker/bytes/keep.js';

const THINGS = 2000;
const nth = (i: number): string => `${i}`.padEnd(i % 40, '.');

t.test('what is kept is a copy that shares no memory with what is soon forgotten', (t) => {
  const kept: Buffer[] = [];
  const passing = new Set<ArrayBufferLike>();
  for (let i = 0; i < THINGS; i++) {
    const bytes = Buffer.from(nth(i));
    passing.add(bytes.buffer);
    kept.push(keepBytes(bytes));
    bytes.fill(0);
  }
  const pieces = new Set(kept.map((bytes) => bytes.buffer));
  t.notOk([...pieces].some((piece) => passing.has(piece)));
  t.ok(pieces.size < 20, `all lie in ${pieces.size} pieces`);
  t.strictSame(
    kept.map(String),
    Array.from({ length: THINGS }, (_, i) => nth(i)),
    'nobody has written over them',
  );
  t.end();
});

t.test('there may be much to keep, or nothing', (t) => {
  t.equal(String(keepBytes(Buffer.alloc(5000, 'x'))), 'x'.repeat(5000));
  t.equal(keepBytes(new Uint8Array(0)).length, 0);
  t.end();
});
