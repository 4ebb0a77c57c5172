import { randomBytes } from 'node:crypto';
import t from 'tap';
import { AES_128_GCM, PacketKeys, suiteOf } from '../../../src/worker/net/openssl/packet-keys.js';
import { quicMemory, whyNoQuic } from '../../../src/worker/net/openssl/quic-library.js';

const skip = whyNoQuic() !== '' && `no QUIC: ${whyNoQuic()}`;

t.test('there may be more keys than the connections of a usual worker have', { skip }, (t) => {
  const secret = randomBytes(32);
  const first = new PacketKeys(suiteOf(AES_128_GCM)!, secret, true, 'quic');
  const keys = [first];
  // 2^16 had places once, and the next one ended the process.
  while (keys.length <= 2 ** 16 + 1) {
    keys.push(first.next());
  }
  const region = quicMemory(4096);
  const opener = new PacketKeys(suiteOf(AES_128_GCM)!, secret, false, 'quic').next();
  for (const each of [keys[1]!, keys.at(-1)!]) {
    region.bytes.write('header text');
    each.seal(7, region, 0, 6, 11);
    t.equal(opener.open(7, region, 0, 6, 11), true);
    t.equal(region.bytes.toString('latin1', 0, 11), 'header text');
  }
  for (const each of keys) {
    each.free();
  }
  t.end();
});
