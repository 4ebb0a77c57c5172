import t, { type Test } from 'tap';
import { HelloRecords, type PrereadHello } from '../../../src/worker/modules/stream-ssl-preread/hello.js';

const pair = (length: number): readonly [number, number] => [length >> 8, length & 255];

/** Reads a hello with these extensions in records of a byte, which may not take longer than its length says. */
function readBytewise(t: Test, extensions: Buffer, said: PrereadHello): void {
  const rest = [3, 3, ...Buffer.alloc(32), 0, 0, 2, 0x13, 1, 1, 0, ...pair(extensions.length), ...extensions];
  const message = Buffer.from([1, 0, ...pair(rest.length), ...rest]);
  const records = new HelloRecords();
  const before = process.cpuUsage();
  for (let at = 0; at < message.length - 1; at++) {
    if (records.add(message.subarray(at, at + 1)) !== 'more') {
      t.fail(`byte ${at}`);
    }
  }
  t.equal(records.add(message.subarray(-1)), 'whole');
  t.strictSame(records.seen, said);
  const { user, system } = process.cpuUsage(before);
  // Where each byte has all of them read again, it takes more than ten times as long.
  t.ok(user + system < 2_000_000, `${user + system} microseconds`);
}

t.test('a hello with many extensions costs what its length says, however it is cut', async (t) => {
  const count = 14_500;
  const extensions = Buffer.alloc(count * 4, 0x7a);
  for (let i = 0; i < count; i++) {
    extensions.writeUInt16BE(0, i * 4 + 2);
  }
  readBytewise(t, extensions, { protocol: 'TLSv1.2', serverName: '', alpn: '' });
});

t.test('so does one with many protocols', async (t) => {
  const count = 29_000;
  const list = Buffer.from('\x01p'.repeat(count), 'latin1');
  const extension = Buffer.from([0, 16, ...pair(list.length + 2), ...pair(list.length), ...list]);
  readBytewise(t, extension, { protocol: 'TLSv1.2', serverName: '', alpn: Array(count).fill('p').join(',') });
});
