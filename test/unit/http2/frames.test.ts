import { Buffer } from 'node:buffer';
import t from 'tap';
import {
  Http2FrameReader,
  READ_AGAIN,
  READ_BAD_PADDING,
  READ_DATA,
  READ_DATA_HEAD,
  READ_FRAME,
  READ_HEADERS_HEAD,
  READ_TOO_LONG,
  READ_UNKNOWN,
} from '../../../src/worker/http/http2-frames/frame-reader.js';
import { HeaderBlock } from '../../../src/worker/http/http2-frames/header-block.js';
import { frameSection, putHead, sectionSize } from '../../../src/worker/http/http2-frames/output.js';

const frame = (type: number, flags: number, id: number, payload: string): Buffer => {
  const bytes = Buffer.alloc(9 + payload.length);
  putHead(bytes, 0, type, flags, id, payload.length);
  bytes.write(payload, 9, 'latin1');
  return bytes;
};

/** Reads bytes in pieces of `size` and says what was found. */
function read(bytes: Buffer, size: number, longest = 1000): string[] {
  const reader = new Http2FrameReader(longest);
  const found: string[] = [];
  let data = '';
  for (let start = 0; start < bytes.length; start += size) {
    // Memory that is used again after the call.
    const piece = Buffer.from(bytes.subarray(start, start + size));
    for (let at = 0; at < piece.length; ) {
      const code = reader.read(piece, at, piece.length);
      at = reader.next;
      const text = reader.bytes.toString('latin1', reader.start, reader.end);
      if (code === READ_AGAIN) {
        break;
      }
      if (code === READ_FRAME) {
        found.push(`${reader.type} ${reader.flags} ${reader.streamId} "${text}"`);
      } else if (code === READ_DATA_HEAD) {
        data = '';
        found.push(`data ${reader.flags} ${reader.streamId} ${reader.left} of ${reader.length}`);
      } else if (code === READ_DATA) {
        data += text;
        if (reader.left === 0) {
          found.push(`"${data}"`);
        }
      } else if (code === READ_UNKNOWN) {
        found.push(`unknown ${reader.type}`);
      } else if (code !== READ_HEADERS_HEAD) {
        found.push(code === READ_TOO_LONG ? 'too long' : code === READ_BAD_PADDING ? 'bad padding' : String(code));
        return found;
      }
    }
    piece.fill(0xee);
  }
  if (reader.within) {
    found.push('within');
  }
  return found;
}

const MIXED = Buffer.concat([
  frame(4, 0, 0, ''),
  frame(1, 4, 1, 'a header block'),
  frame(0, 0, 1, 'some data'),
  frame(0, 9, 1, '\x03more\0\0\0'),
  frame(0, 8, 1, '\x00'),
  frame(0, 1, 3, ''),
  frame(77, 0, 9, 'x'.repeat(70)),
  frame(16, 0, 0, '\0\0\0\x01u=1'),
  frame(6, 0, 0, '12345678'),
  frame(1, 4, 5, 'h'.repeat(500)),
  frame(8, 0, 0x7fffffff, '\0\0\0\x01'),
]);

t.test('frames, however their bytes come', async (t) => {
  const whole = read(MIXED, MIXED.length);
  t.strictSame(whole, [
    '4 0 0 ""',
    '1 4 1 "a header block"',
    'data 0 1 9 of 9',
    '"some data"',
    'data 9 1 4 of 8',
    '"more"',
    'data 8 1 0 of 1',
    'data 1 3 0 of 0',
    'unknown 77',
    '16 0 0 "\0\0\0\x01u=1"',
    '6 0 0 "12345678"',
    `1 4 5 "${'h'.repeat(500)}"`,
    '8 0 2147483647 "\0\0\0\x01"',
  ]);
  for (let size = 1; size < 60; size++) {
    t.strictSame(read(MIXED, size), whole, `in pieces of ${size}`);
  }
});

t.test('padding that does not fit', async (t) => {
  for (const payload of ['', '\x01', '\x05abcd', '\xff']) {
    for (const size of [1, 9, 100]) {
      t.strictSame(read(frame(0, 8, 1, payload), size).at(-1), 'bad padding', JSON.stringify(payload));
    }
  }
});

t.test('frames that are too long are not kept; data and unknown frames have no such bound', async (t) => {
  t.strictSame(read(frame(1, 4, 1, 'x'.repeat(1001)).subarray(0, 20), 20), ['too long']);
  t.strictSame(read(frame(4, 0, 0, 'x'.repeat(1002)).subarray(0, 9), 9), ['too long']);
  t.strictSame(read(frame(0, 0, 1, 'x'.repeat(5000)), 7), ['data 0 1 5000 of 5000', `"${'x'.repeat(5000)}"`]);
  t.strictSame(read(frame(99, 0, 1, 'x'.repeat(5000)), 7), ['unknown 99']);
});

t.test('part of a frame', async (t) => {
  for (let length = 1; length < 20; length++) {
    t.equal(read(frame(6, 0, 0, 'x'.repeat(11)).subarray(0, length), 3).at(-1), length < 20 ? 'within' : '');
  }
});

t.test('a header section that is longer than a frame may be', async (t) => {
  for (const [size, longest] of [
    [0, 10],
    [9, 10],
    [10, 10],
    [11, 10],
    [95, 10],
    [100, 10],
  ] as const) {
    const bytes = Buffer.alloc(5 + sectionSize(size, longest));
    for (let i = 0; i < size; i++) {
      bytes[5 + 9 + i] = i;
    }
    t.equal(frameSection(bytes, 5, size, longest, 1, 7), bytes.length);
    const frames = read(bytes.subarray(5), bytes.length);
    const last = frames.length - 1;
    const expected = frames.map((_, i) => `${i === 0 ? 1 : 9} ${(i === 0 ? 1 : 0) + (i === last ? 4 : 0)} 7`);
    t.strictSame(
      frames.map((text) => text.slice(0, text.indexOf(' "'))),
      expected,
    );
    const all = frames.map((text) => text.slice(text.indexOf('"') + 1, -1)).join('');
    t.strictSame(Buffer.from(all, 'latin1'), Buffer.from(Array.from({ length: size }, (_, i) => i)), `${size} in frames of ${longest}`);
  }
});

t.test('a section in several frames is kept up to its bound', async (t) => {
  const block = new HeaderBlock();
  block.begin(3, true, false);
  t.ok(block.add(Buffer.from('xabx'), 1, 3, 5));
  t.ok(block.add(Buffer.from('cd'), 0, 2, 5));
  t.equal(block.take().toString(), 'abcd');
  t.notOk(block.add(Buffer.from('ef'), 0, 2, 5));
  block.end();
  t.strictSame([block.streamId, block.open], [0, false]);
});
