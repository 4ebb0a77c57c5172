import t from 'tap';
import { PacketKeys, suiteOf } from '../../../../src/worker/net/openssl/packet-keys.js';
import { quicMemory, whyNoQuic } from '../../../../src/worker/net/openssl/quic-library.js';
import { numberLength, wholeNumber } from '../../../../src/worker/net/quic/packet-number.js';
import { initialKeys, retryTag, VERSION_1, VERSION_2 } from '../../../../src/worker/net/quic/version.js';

const skip = whyNoQuic() !== '' && `no QUIC: ${whyNoQuic()}`;
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
const DESTINATION = hex('8394c8f03e515708');

/** Protects a packet as its sender does; `header` ends with the packet number. */
function protect(keys: PacketKeys, header: Buffer, numberLength: number, number: number, payload: Buffer): Buffer {
  const region = quicMemory(4096);
  region.bytes.set(header);
  region.bytes.set(payload, header.length);
  const end = header.length + payload.length;
  keys.seal(number, region, 0, header.length, end);
  const numberAt = header.length - numberLength;
  const mask = keys.mask(region, numberAt + 4);
  region.bytes[0]! ^= mask[0]! & ((header[0]! & 0x80) !== 0 ? 0x0f : 0x1f);
  for (let i = 0; i < numberLength; i++) {
    region.bytes[numberAt + i]! ^= mask[1 + i]!;
  }
  return Buffer.from(region.bytes.subarray(0, end + 16));
}

t.test("RFC 9001, A.3: the server's Initial packet", { skip }, async (t) => {
  const keys = initialKeys(VERSION_1, DESTINATION).server(true);
  const payload = hex(`02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf73988cfc79825df566dc5430b9a045a1200130100002e0033
    0024001d00209d3c940d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00020304`);
  const packet = protect(keys, hex('c1000000010008f067a5502a4262b50040750001'), 2, 1, payload);
  t.equal(
    packet.toString('hex'),
    `cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb38cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea4
     6c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd074ee`.replaceAll(
      /\s/g,
      '',
    ),
  );
  keys.free();
});

t.test('RFC 9001, A.5: ChaCha20-Poly1305 with a short header', { skip }, async (t) => {
  const secret = hex('9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b');
  const keys = new PacketKeys(suiteOf(0x1303)!, secret, true, 'quic');
  t.equal(protect(keys, hex('4200bff4'), 3, 654360564, hex('01')).toString('hex'), '4cfe4189655e5cd55c41f69080575d7999c25a5bfb');
  keys.free();
});

t.test('RFC 9001, A.4, and RFC 9369, A.4: the tag of Retry', { skip }, async (t) => {
  const pseudo = Buffer.concat([Buffer.from([8]), DESTINATION, hex('ff000000010008f067a5502a4262b5746f6b656e')]);
  t.equal(retryTag(VERSION_1, pseudo).toString('hex'), '04a265ba2eff4d829058fb3f0f2496ba');
  const second = Buffer.concat([Buffer.from([8]), DESTINATION, hex('cf6b3343cf0008f067a5502a4262b5746f6b656e')]);
  t.equal(retryTag(VERSION_2, second).toString('hex'), 'c8646ce8bfe33952d955543665dcc7b6');
});

t.test('what was protected is read, and what was changed is not', { skip }, async (t) => {
  for (const version of [VERSION_1, VERSION_2]) {
    const { client } = initialKeys(version, DESTINATION);
    const [write, read] = [client(true), client(false)];
    const region = quicMemory(4096);
    for (const number of [0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 5, Number.MAX_SAFE_INTEGER]) {
      region.bytes.fill(0).write('header, text');
      write.seal(number, region, 0, 8, 12);
      t.not(region.bytes.toString('latin1', 8, 12), 'text');
      const kept = Buffer.from(region.bytes.subarray(0, 28));
      t.equal(read.open(number, region, 0, 8, 12), true);
      t.equal(region.bytes.toString('latin1', 8, 12), 'text');
      for (const at of [0, 9, 27]) {
        region.bytes.set(kept);
        region.bytes[at]! ^= 1;
        t.equal(read.open(number, region, 0, 8, 12), false);
      }
      region.bytes.set(kept);
      t.equal(read.open(number + (number < 2 ** 53 - 1 ? 1 : -1), region, 0, 8, 12), false);
    }
    const [nextWrite, nextRead] = [write.next(), read.next()];
    region.bytes.fill(0).write('header, text');
    nextWrite.seal(9, region, 0, 8, 12);
    const kept = Buffer.from(region.bytes.subarray(0, 28));
    t.equal(read.open(9, region, 0, 8, 12), false);
    region.bytes.set(kept);
    t.equal(nextRead.open(9, region, 0, 8, 12), true);
    region.bytes.fill(0).write('header');
    write.seal(7, region, 0, 8, 8);
    t.equal(read.open(7, region, 0, 8, 8), true, 'a packet of nothing');
    region.bytes[2]! ^= 1;
    t.equal(read.open(7, region, 0, 8, 8), false);
    t.throws(() => write.seal(1, region, 4000, 4000, 4090), /without a header/);
    t.throws(() => write.seal(1, region, 4000, 4010, 4090), /outside of/);
    t.throws(() => read.open(1, region, 0, 10, 5000), /outside of/);
    t.throws(() => read.mask(region, 4090), /outside of/);
    for (const keys of [write, read, nextWrite, nextRead]) {
      keys.free();
    }
  }
});

t.test('packet numbers', async (t) => {
  t.equal(wholeNumber(0xa82f30ea, 0x9b32, 2), 0xa82f9b32);
  t.equal(wholeNumber(-1, 0, 1), 0);
  t.equal(wholeNumber(255, 0, 1), 256);
  t.equal(wholeNumber(2 ** 40, 5, 4), 2 ** 40 + 5);
  t.equal(numberLength(0xac5c02, 0xabe8b3), 2);
  t.equal(numberLength(0xace8fe, 0xabe8b3), 3);
  for (let i = 0; i < 2000; i++) {
    const acked = Math.floor(Math.random() * 2 ** 45) - 1;
    const number = acked + 1 + Math.floor(Math.random() * 2 ** 22);
    const length = numberLength(number, acked);
    t.equal(wholeNumber(number - 1, number % 256 ** length, length) === number, true);
  }
});
