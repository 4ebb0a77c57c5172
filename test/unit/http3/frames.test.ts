import t from 'tap';
import { CAME, Http3FrameReader } from '../../../src/worker/http/http3-frames/frame-reader.js';
import { putVarint, VarintReader, varintLength } from '../../../src/worker/http/http3-frames/varint.js';

const NUMBERS = [0, 1, 63, 64, 16_383, 16_384, 2 ** 30 - 1, 2 ** 30, 2 ** 32, 2 ** 53 - 1];

t.test('numbers of several lengths', async (t) => {
  for (const number of NUMBERS) {
    const bytes = Buffer.alloc(10);
    const end = putVarint(bytes, 1, number);
    t.equal(end, 1 + varintLength(number));
    const reader = new VarintReader();
    t.equal(reader.read(bytes, 1, 10), end);
    t.equal(reader.value, number);
    for (let at = 1; at < end; at++) {
      t.equal(reader.read(bytes, at, at + 1), at === end - 1 ? end : -1, 'byte by byte');
    }
    t.equal(reader.value, number);
  }
  const reader = new VarintReader();
  t.equal(reader.read(Buffer.from('c2197c5eff14e88c', 'hex'), 0, 8), 8);
  t.equal(reader.value, Number(151_288_809_941_952_652n), 'the example of RFC 9000, A.1');
});

/** Frames, read in pieces of some size. */
function frames(bytes: Buffer, size: number): { seen: string[]; within: boolean } {
  const reader = new Http3FrameReader();
  const seen: string[] = [];
  for (let start = 0; start < bytes.length; start += size) {
    const end = Math.min(bytes.length, start + size);
    for (let at = start; at < end; at = reader.next) {
      const came = reader.read(bytes, at, end);
      if (came === CAME.HEAD) {
        seen.push(`${reader.type}:`);
      } else if (came === CAME.PAYLOAD) {
        seen.push(seen.pop() + bytes.toString('latin1', reader.start, reader.end));
      }
    }
  }
  return { seen, within: reader.within };
}

t.test('frames in pieces of any size', async (t) => {
  const bytes = Buffer.concat([
    Buffer.from('0003616263', 'hex'),
    Buffer.from('0100', 'hex'),
    Buffer.from('800f07004001', 'hex'),
    Buffer.from('z'),
  ]);
  for (let size = 1; size <= bytes.length; size++) {
    t.strictSame(frames(bytes, size), { seen: ['0:abc', '1:', `${0xf0700}:z`], within: false });
  }
  t.equal(frames(bytes.subarray(0, 4), 10).within, true, 'within a payload');
  t.equal(frames(bytes.subarray(0, 6), 10).within, true, 'within a head');
  t.equal(frames(bytes.subarray(0, 7), 10).within, false, 'between frames');
});
