import t from 'tap';
import { copied, Gathered, moveDown } from '../../../src/worker/bytes/gathered.js';

const text = (pieces: readonly Buffer[]): string => Buffer.concat(pieces).toString('latin1');

/** The memory behind the pieces. */
const memory = (pieces: readonly Buffer[]): number =>
  [...new Set(pieces.map((piece) => piece.buffer))].reduce((sum, buffer) => sum + buffer.byteLength, 0);

t.test('bytes that come one by one take few pieces and little memory', (t) => {
  const bytes = new Gathered();
  const source = Buffer.alloc(1);
  for (let i = 0; i < 1_000_000; i++) {
    source[0] = i;
    bytes.add(source, 0, 1);
  }
  t.equal(bytes.length, 1_000_000);
  t.ok(bytes.pieces.length < 40, `${bytes.pieces.length} pieces`);
  t.ok(memory(bytes.pieces) < 1_200_000, `${memory(bytes.pieces)} bytes of memory`);
  const whole = bytes.joined();
  t.ok(whole.every((byte, i) => byte === (i & 255)));
  bytes.add(source, 0, 1);
  t.equal(bytes.length, 1_000_001);
  t.equal(text(bytes.take()).length, 1_000_001);
  t.equal(bytes.length, 0);
  t.end();
});

t.test('what was given away does not change when more comes', (t) => {
  const bytes = new Gathered();
  const add = (part: string): void => bytes.add(Buffer.from(`..${part}..`), 2, 2 + part.length);
  add('a'.repeat(10));
  add('b'.repeat(3));
  const first = bytes.shift();
  add('c'.repeat(4));
  t.equal(first?.toString('latin1'), 'a'.repeat(10));
  t.equal(bytes.length, 7);
  const rest = bytes.takeUpTo(100);
  add('d');
  t.equal(text(rest), 'bbbcccc');
  t.equal(text(bytes.pieces), 'd');
  t.strictSame(bytes.takeUpTo(0), []);
  t.equal(bytes.shift()?.toString('latin1'), 'd');
  t.equal(bytes.shift(), null);
  t.equal(bytes.length, 0);
  add('x'.repeat(100_000));
  add('y'.repeat(100));
  add('z'.repeat(200_000));
  t.equal(text(bytes.takeUpTo(150_000)).length, 100_000);
  t.equal(text(bytes.pieces), 'y'.repeat(100) + 'z'.repeat(200_000));
  t.equal(bytes.length, 200_100);
  t.end();
});

t.test('copies and moves of any size', (t) => {
  for (const size of [0, 1, 48, 49, 1000]) {
    const bytes = Buffer.from(`head${'x'.repeat(size)}tail`);
    t.equal(copied(bytes, 4, 4 + size).toString('latin1'), 'x'.repeat(size));
    moveDown(bytes, 1, 4, 4 + size);
    t.equal(bytes.toString('latin1', 0, size + 1), `h${'x'.repeat(size)}`);
  }
  t.end();
});

t.test('what is lent has its memory used again, and nothing else has', async (t) => {
  const size = 60 * 1024;
  const memories = new Set<ArrayBufferLike>();
  const gather = (letter: string): Gathered => {
    const gathered = new Gathered(true);
    gathered.add(Buffer.alloc(size, letter), 0, size);
    memories.add(gathered.pieces[0]!.buffer);
    return gathered;
  };
  const given = gather('a').take()[0]!;
  const joined = gather('b');
  joined.add(Buffer.alloc(size, 'c'), 0, size);
  const whole = joined.joined();
  for (let i = 0; i < 20; i++) {
    const [one, other] = [gather('d'), gather('e')];
    t.equal(
      one.lend((piece) => {
        const meanwhile = gather('f');
        t.ok(piece.equals(Buffer.alloc(size, 'd')), 'nobody writes into what is lent');
        return meanwhile.lend((third) => third.toString('latin1', 0, 1));
      }),
      'f',
    );
    t.equal(one.length, 0);
    t.ok(other.pieces[0]!.equals(Buffer.alloc(size, 'e')));
    other.lend(() => {});
  }
  t.ok(given.equals(Buffer.alloc(size, 'a')));
  t.ok(whole.equals(Buffer.concat([Buffer.alloc(size, 'b'), Buffer.alloc(size, 'c')])));
  t.equal(memories.size, 5, 'three that were lent, again and again, and two that were not');
});
