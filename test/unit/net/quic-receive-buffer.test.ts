import { randomInt } from 'node:crypto';
import t from 'tap';
import { ReceiveBuffer } from '../../../src/worker/net/quic/receive-buffer.js';

const taken = (buffer: ReceiveBuffer): string => {
  let text = '';
  for (let ready = buffer.ready(); ready !== undefined; ready = buffer.ready()) {
    text += ready.toString('latin1');
  }
  return text;
};

/** How many bytes `run` allocates. */
function allocatedBy(run: () => void): number {
  let allocated = 0;
  const { alloc } = Buffer;
  Buffer.alloc = ((size: number) => {
    allocated += size;
    return alloc(size);
  }) as typeof alloc;
  try {
    run();
  } finally {
    Buffer.alloc = alloc;
  }
  return allocated;
}

t.test('a byte far away takes a page, not all that is before it', async (t) => {
  const buffer = new ReceiveBuffer();
  t.equal(
    allocatedBy(() => buffer.put(65535, Buffer.from('z'))),
    4096,
  );
  t.equal(buffer.ready(), undefined);
  buffer.put(0, Buffer.alloc(65535, 'a'));
  t.equal(taken(buffer), `${'a'.repeat(65535)}z`);
  t.equal(buffer.next, 65536);
});

t.test('whatever comes first, and twice, all of it is given on in order', async (t) => {
  const text = Array.from({ length: 30_000 }, (_, i) => String.fromCharCode(97 + ((i * 7 + (i >> 8)) % 26))).join('');
  for (const begin of [0, 4096, 5_000_000_001]) {
    const buffer = new ReceiveBuffer(begin);
    let came = '';
    while (came.length < text.length) {
      const at = Math.max(0, Math.min(text.length - 1, came.length - 2000 + randomInt(14_000)));
      buffer.put(begin + at, Buffer.from(text.slice(at, at + 1 + randomInt(6000))));
      came += taken(buffer);
      if (buffer.next !== begin + came.length) {
        t.fail(`${buffer.next} after ${came.length} bytes`);
        return;
      }
    }
    t.equal(came, text);
  }
});

t.test('what comes byte by byte, at both ends by turns, is not copied for each of them', (t) => {
  const window = 65536;
  const buffer = new ReceiveBuffer();
  buffer.put(window - 1, Buffer.from('z'));
  buffer.put(0, Buffer.alloc(window / 2, 'a'));
  t.equal(taken(buffer).length, window / 2);
  let came = '';
  const [low, high] = [Buffer.from('l'), Buffer.from('h')];
  const allocated = allocatedBy(() => {
    for (let i = 0; i < 2000; i++) {
      buffer.put(window + i, high);
      buffer.put(window / 2 + i, low);
      came += taken(buffer);
    }
  });
  t.equal(came, 'l'.repeat(2000));
  t.ok(allocated < 8 * window, `${allocated} bytes`);
  t.end();
});
