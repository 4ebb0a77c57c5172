import t from 'tap';
import { ReceiveBuffer } from '../../../src/worker/net/quic/receive-buffer.js';

t.test('what comes byte by byte, at both ends by turns, is not copied for each of them', (t) => {
  const window = 65536;
  const buffer = new ReceiveBuffer();
  const take = (): string => {
    let text = '';
    for (let ready = buffer.ready(); ready !== undefined; ready = buffer.ready()) {
      text += ready.toString('latin1');
    }
    return text;
  };
  buffer.put(window - 1, Buffer.from('z'));
  buffer.put(0, Buffer.alloc(window / 2, 'a'));
  t.equal(take().length, window / 2);
  let [allocated, came] = [0, ''];
  const { alloc } = Buffer;
  Buffer.alloc = ((size: number) => {
    allocated += size;
    return alloc(size);
  }) as typeof alloc;
  t.teardown(() => {
    Buffer.alloc = alloc;
  });
  const [low, high] = [Buffer.from('l'), Buffer.from('h')];
  for (let i = 0; i < 2000; i++) {
    buffer.put(window + i, high);
    buffer.put(window / 2 + i, low);
    came += take();
  }
  Buffer.alloc = alloc;
  t.equal(came, 'l'.repeat(2000));
  t.ok(allocated < 8 * window, `${allocated} bytes`);
  t.end();
});
