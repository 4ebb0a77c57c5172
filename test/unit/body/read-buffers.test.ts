import t from 'tap';
import { type BufferTaker, ReadBuffers } from '../../../src/worker/io/read-buffers.js';

class Taker implements BufferTaker {
  buffer: Buffer | null = null;
  takeBuffer(buffer: Buffer): void {
    this.buffer = buffer;
  }
}

t.test('buffers go around, first come first served, and never are there more', (t) => {
  const buffers = new ReadBuffers();
  const takers = Array.from({ length: 1000 }, () => new Taker());
  for (const taker of takers) {
    buffers.request(taker);
  }
  const served = takers.filter(({ buffer }) => buffer !== null);
  t.ok(served.length > 0 && served.length <= 8);
  t.equal(new Set(served.map(({ buffer }) => buffer)).size, served.length, 'each has its own');
  const waiting = takers.slice(served.length);
  buffers.cancel(waiting[1]!);
  for (const { buffer } of served.slice(0, 2)) {
    buffers.release(buffer!);
  }
  t.equal(waiting[0]!.buffer, served[0]!.buffer);
  t.equal(waiting[1]!.buffer, null, 'waits no longer');
  t.equal(waiting[2]!.buffer, served[1]!.buffer);
  t.equal(waiting[3]!.buffer, null);
  t.end();
});

t.test('a buffer that nobody waits for is the next one', (t) => {
  const buffers = new ReadBuffers();
  const [first, second] = [new Taker(), new Taker()];
  buffers.request(first);
  buffers.release(first.buffer!);
  buffers.request(second);
  t.equal(second.buffer, first.buffer);
  t.end();
});
