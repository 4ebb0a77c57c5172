import { randomBytes } from 'node:crypto';
import t from 'tap';
import { AES_128_GCM, MASKS_MOST, PacketKeys, SAMPLE, suiteOf } from '../../../src/worker/net/openssl/packet-keys.js';
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

t.test('more keys in use than there are contexts', { skip }, (t) => {
  const region = quicMemory(4096);
  for (const id of [AES_128_GCM, 0x1302, 0x1303]) {
    const pairs = Array.from({ length: 700 }, () => {
      const secret = randomBytes(id === 0x1302 ? 48 : 32);
      return [true, false].map((seals) => new PacketKeys(suiteOf(id)!, secret, seals, 'quic')) as [PacketKeys, PacketKeys];
    });
    let wrong = 0;
    for (let round = 0; round < 3; round++) {
      for (const [sealer] of pairs) {
        sealer.mask(region, 100);
      }
      for (const [i, [sealer, opener]] of pairs.entries()) {
        region.bytes.write(`header text ${i}`);
        const mask = Buffer.from(sealer.mask(region, 0).subarray(0, 5));
        wrong += mask.equals(opener.mask(region, 0).subarray(0, 5)) ? 0 : 1;
        sealer.seal(i, region, 0, 7, 16);
        const other = pairs[(i + 350) % pairs.length]![1];
        const kept = Buffer.from(region.bytes.subarray(0, 32));
        wrong += other.open(i, region, 0, 7, 16) ? 1 : 0;
        region.bytes.set(kept);
        wrong += opener.open(i, region, 0, 7, 16) ? 0 : 1;
      }
    }
    t.equal(wrong, 0, `${id}`);
    for (const keys of pairs.flat()) {
      keys.free();
      keys.free();
      t.throws(() => keys.seal(1, region, 0, 7, 16), /freed/);
    }
  }
  t.end();
});

t.test('each suite opens what it has sealed, and nothing else', { skip }, (t) => {
  const region = quicMemory(4096);
  for (const id of [AES_128_GCM, 0x1302, 0x1303]) {
    const secret = randomBytes(id === 0x1302 ? 48 : 32);
    const [sealer, opener] = [true, false].map((seals) => new PacketKeys(suiteOf(id)!, Buffer.from(secret), seals, 'quic'));
    for (const [number, length] of [
      [0, 1],
      [1, 40],
      [2 ** 32 + 5, 1400],
      [7, 300],
    ] as const) {
      const text = randomBytes(length);
      const at = length % 100;
      const [textAt, end] = [at + 11, at + 11 + length];
      const seal = (): void => {
        region.bytes.write('some header', at);
        text.copy(region.bytes, textAt);
        sealer!.seal(number, region, at, textAt, end);
      };
      for (const broken of [at, textAt, end, end + 15]) {
        seal();
        region.bytes[broken]! ^= 1;
        t.equal(opener!.open(number, region, at, textAt, end), false, `${id}: byte ${broken - at} is another one`);
      }
      seal();
      t.equal(opener!.open(number + 1, region, at, textAt, end), false, `${id}: another number`);
      seal();
      t.equal(opener!.open(number, region, at, textAt, end), true);
      t.strictSame(region.bytes.subarray(textAt, end), text);
    }
    t.equal(opener!.forged, 20);
    sealer!.free();
    opener!.free();
  }
  t.end();
});

t.test('masks that are made together are those that each header has alone', { skip }, (t) => {
  const region = quicMemory(8192);
  region.bytes.set(randomBytes(8192));
  for (const id of [AES_128_GCM, 0x1302, 0x1303]) {
    const keys = new PacketKeys(suiteOf(id)!, randomBytes(id === 0x1302 ? 48 : 32), true, 'quic');
    for (const count of [1, 2, MASKS_MOST]) {
      const places = Uint32Array.from({ length: count }, (_, i) => 1 + i * 97);
      const together = Buffer.from(keys.masks(region, places, 4, count));
      for (const [i, place] of places.entries()) {
        const alone = Buffer.from(keys.mask(region, place + 4).subarray(0, 5));
        t.strictSame(together.subarray(i * SAMPLE, i * SAMPLE + 5), alone, `${id}: ${i} of ${count}`);
      }
    }
    t.throws(() => keys.masks(region, new Uint32Array(MASKS_MOST + 1), 4, MASKS_MOST + 1), /too many/);
    t.throws(() => keys.masks(region, Uint32Array.of(8190), 4, 1), /outside of/);
    keys.free();
    t.throws(() => keys.masks(region, Uint32Array.of(0, 100), 4, 2), /freed/, 'nobody reads what OpenSSL has no more');
  }
  t.end();
});
