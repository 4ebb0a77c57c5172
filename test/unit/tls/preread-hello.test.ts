import t from 'tap';
import { HelloRecords } from '../../../src/worker/modules/stream-ssl-preread/hello.js';

const EXTENSIONS = 14_500;

t.test('a hello with many extensions costs what its length says, however it is cut', async (t) => {
  const extensions = Buffer.alloc(EXTENSIONS * 4, 0x7a);
  for (let i = 0; i < EXTENSIONS; i++) {
    extensions.writeUInt16BE(0, i * 4 + 2);
  }
  const pair = (length: number): readonly [number, number] => [length >> 8, length & 255];
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
  t.strictSame(records.seen, { protocol: 'TLSv1.2', serverName: '', alpn: '' });
  const { user, system } = process.cpuUsage(before);
  // Where each byte has all of them read again, it takes more than ten times as long.
  t.ok(user + system < 2_000_000, `${user + system} microseconds`);
});
