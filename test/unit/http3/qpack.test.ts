import t from 'tap';
import type { Field } from '../../../src/worker/http/fields/field.js';
import { DecoderInstructions, DecoderStreamReader } from '../../../src/worker/http/http3-frames/qpack/decoder-stream.js';
import { EncoderStreamReader } from '../../../src/worker/http/http3-frames/qpack/encoder-stream.js';
import { qpackName } from '../../../src/worker/http/http3-frames/qpack/name-code.js';
import { SECTION, SectionDecoder } from '../../../src/worker/http/http3-frames/qpack/section-decoder.js';
import { QpackSectionWriter } from '../../../src/worker/http/http3-frames/qpack/section-writer.js';
import { STATIC_FIELDS } from '../../../src/worker/http/http3-frames/qpack/static-table.js';
import { QpackTable } from '../../../src/worker/http/http3-frames/qpack/table.js';

const LIMITS = { field: 8192, total: 32_768 };
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** A connection's table and who reads and writes what it is about. */
function side(capacity = 4096) {
  const table = new QpackTable(capacity);
  const decoder = new SectionDecoder();
  const encoder = new EncoderStreamReader(table);
  const instructions = new DecoderInstructions(table);
  return {
    table,
    encoder,
    instructions,
    say: (bytes: Buffer): boolean => encoder.read(bytes, 0, bytes.length),
    /** The fields of a section, or what is wrong with it. */
    read(bytes: Buffer, limits = LIMITS): string[] | number {
      const fields: string[] = [];
      const begun = decoder.begin(table, bytes, 0, bytes.length);
      if (begun !== SECTION.DECODED) {
        return begun;
      }
      const code = decoder.decode(bytes.length, limits, { field: ({ name, value }: Field) => void fields.push(`${name.text}: ${value}`) });
      return code === SECTION.DECODED ? fields : code;
    },
  };
}

t.test('the examples of RFC 9204, appendix B', async (t) => {
  const { table, instructions, say, read } = side(220);
  t.strictSame(read(hex('0000 510b 2f69 6e64 6578 2e68 746d 6c')), [':path: /index.html'], 'B.1');
  const section = hex('0381 1011');
  t.equal(read(section), SECTION.BLOCKED, 'B.2: the section came first');
  t.ok(say(hex('3fbd 01')));
  t.ok(say(hex('c00f 7777 772e 6578 616d 706c 652e 636f 6d')));
  t.equal(read(section), SECTION.BLOCKED);
  t.ok(say(hex('c10c 2f73 616d 706c 652f 7061 7468')));
  t.strictSame(read(section), [':authority: www.example.com', ':path: /sample/path']);
  instructions.acknowledge(4, 2);
  t.equal(instructions.take().toString('hex'), '84');
  t.ok(say(hex('4a63 7573 746f 6d2d 6b65 790c 6375 7374 6f6d 2d76 616c 7565')), 'B.3');
  t.equal(instructions.take().toString('hex'), '01');
  t.equal(table.size, 160);
  t.ok(say(hex('02')), 'B.4');
  t.strictSame(read(hex('0500 80c1 81')), [':authority: www.example.com', ':path: /', 'custom-key: custom-value']);
  instructions.cancel(8);
  t.equal(instructions.take().toString('hex'), '4801');
  t.equal(table.size, 217);
  t.ok(say(hex('810d 6375 7374 6f6d 2d76 616c 7565 32')), 'B.5');
  t.equal(table.size, 215);
  t.equal(table.inserted, 5);
  t.equal(table.at(0), undefined, 'the oldest is gone');
  t.equal(table.at(4)?.value, 'custom-value2');
});

t.test('the static table', async (t) => {
  t.equal(STATIC_FIELDS.length, 99);
  const { read } = side();
  t.strictSame(read(hex('0000 d1')), [':method: GET']);
  t.strictSame(read(hex('0000 ff23')), ['x-frame-options: sameorigin'], 'the last');
  t.equal(read(hex('0000 ff24')), SECTION.INVALID, 'behind the last');
  t.equal(read(hex('0000 5f55 00')), SECTION.INVALID, 'a name behind the last');
});

t.test('sections that break the rules', async (t) => {
  const { say, read } = side();
  t.ok(say(hex('3fe11f')), 'all of the capacity');
  t.ok(say(Buffer.concat([hex('41610162'), hex('41630164')])), 'a: b, c: d');
  const cases: readonly (readonly [what: string, section: string, result: string[] | number])[] = [
    ['nothing', '', SECTION.INVALID],
    ['no base', '00', SECTION.INVALID],
    ['no fields', '0000', []],
    ['a count beyond twice the table', 'ff0200', SECTION.INVALID],
    ['a negative base', '0382', SECTION.INVALID],
    ['a reference without a count', '000080', SECTION.INVALID],
    ['a reference to what comes later', '020010', SECTION.INVALID],
    ['the first field', '020080', ['a: b']],
    ['both fields', '030080 81', ['c: d', 'a: b']],
    ['both, from the first base', '0380 10 80', ['c: d', 'a: b']],
    ['a name of the table', '0300 40 0178', ['c: x']],
    ['a name behind the base', '0380 00 0178', ['c: x']],
    ['a name of its own', '0000 21 61 0178', ['a: x']],
    ['a text that is cut off', '0000 21 61 0578', SECTION.INVALID],
    ['an index that is cut off', '0000 ff', SECTION.INVALID],
    ['Huffman code that is none', '0000 2a ffff 0178', SECTION.INVALID],
    ['a number without an end', `0000 ff${'ff'.repeat(12)}`, SECTION.TOO_LARGE],
    ['three bytes of value', '0000 21 61 03 787878', ['a: xxx']],
  ];
  for (const [what, section, result] of cases) {
    t.strictSame(read(hex(section)), result, what);
  }
  t.equal(read(hex('0000 21 61 05 7878787878'), { field: 4, total: 100 }), SECTION.TOO_LARGE, 'a long value');
  t.equal(read(hex('0000 21 61 02 7878 21 61 02 7878'), { field: 4, total: 5 }), SECTION.TOO_LARGE, 'too much in all');
});

t.test('the count of insertions wraps', async (t) => {
  const { table, say, read } = side();
  say(hex('3fe11f'));
  for (let i = 0; i < 1000; i++) {
    t.ok(say(Buffer.from(`\x41k${String.fromCharCode(4)}${String(i).padStart(4, '0')}`, 'latin1')));
    const encoded = ((table.inserted % 256) + 1).toString(16).padStart(2, '0');
    const prefix = encoded.length > 2 ? 'ff01' : encoded === 'ff' ? 'ff00' : encoded;
    const fields = read(hex(`${prefix}00 80`));
    if (fields.toString() !== `k: ${String(i).padStart(4, '0')}`) {
      t.fail(`${i}: ${fields}`);
    }
  }
  t.equal(table.inserted, 1000);
  t.ok(table.size <= 4096);
});

t.test('instructions that break the rules', async (t) => {
  const bad: readonly (readonly [what: string, instructions: string])[] = [
    ['more capacity than is allowed', '3fe21f'],
    ['a field without capacity', '4161 0162'],
    ['a static name that is not there', '3f21 ff24 0162'],
    ['a dynamic name that is not there', '3f21 80 0162'],
    ['a duplicate of nothing', '3f21 00'],
    ['a field larger than the table', `3f21 41 61 7f60 ${'62'.repeat(223)}`],
    ['Huffman code that is none', '3f21 62ffff 0162'],
    ['a number without an end', `3f${'ff'.repeat(12)}`],
  ];
  for (const [what, instructions] of bad) {
    t.notOk(side().say(hex(instructions)), what);
  }
  const { say } = side();
  t.notOk(say(hex('3f21 61 7fff ffff ff03')), 'what has no room is refused before it has come');
});

t.test('instructions come byte by byte', async (t) => {
  const { table, encoder, read } = side();
  for (const byte of hex('3fe11f c00f 7777772e6578616d706c652e636f6d 4161 0162 00')) {
    t.ok(encoder.read(Buffer.from([byte]), 0, 1));
  }
  t.equal(table.inserted, 3);
  t.strictSame(read(hex('0400 80 81 82')), ['a: b', 'a: b', ':authority: www.example.com']);
});

t.test('a decoder has nothing to say of what it was not told', async (t) => {
  const read = (text: string): boolean => new DecoderStreamReader().read(hex(text), 0, hex(text).length);
  t.ok(read('44'), 'it will not read a stream');
  t.ok(read('7fff'), '... with a long number');
  t.notOk(read('84'), 'an acknowledgement');
  t.notOk(read('01'), 'a count');
  t.notOk(read('00'), 'a count of nothing');
  const pieces = new DecoderStreamReader();
  t.ok(pieces.read(hex('7f'), 0, 1));
  t.ok(pieces.read(hex('ff'), 0, 1));
  t.ok(pieces.read(hex('01'), 0, 1));
  t.notOk(pieces.read(hex('01'), 0, 1));
});

t.test('what is written can be read', async (t) => {
  const writer = new QpackSectionWriter();
  const fields = [
    [':status', '200'],
    [':status', '418'],
    ['content-type', 'text/html'],
    ['content-type', 'text/plain'],
    ['x-long', 'v'.repeat(5000)],
    ['x-empty', ''],
    ['set-cookie', 'a=b'],
    ['x-high', '\xff\x80'],
    ['server', 'sluice'],
    ['server', 'sluice'],
    ['server', 'sluice'],
    ['server', 'other'],
  ] as const;
  for (let round = 0; round < 3; round++) {
    writer.begin();
    for (const [name, value] of fields) {
      writer.field(qpackName(name), value);
    }
    const frame = writer.end();
    t.equal(frame[0], 1, 'a HEADERS frame');
    const head = 1 + (1 << (frame[1]! >> 6));
    t.strictSame(
      side().read(frame.subarray(head)),
      fields.map(([name, value]) => `${name}: ${value}`),
    );
  }
});

t.test('an instruction that comes byte by byte is neither copied nor decoded for each of them', async (t) => {
  const { table, say } = side();
  t.ok(say(hex('3fe1 1f')), 'a capacity of 4096');
  // A name in Huffman code, whose letters take 5 bits each, and a value.
  const name = Buffer.alloc(1250, Buffer.from('18c6318c63', 'hex'));
  const value = Buffer.alloc(2000, 'v');
  const number = (first: number, mask: number, value: number): Buffer => {
    const rest = value - mask;
    return Buffer.from([first | mask, 0x80 | (rest & 127), rest >> 7]);
  };
  const instruction = Buffer.concat([number(0x60, 0x1f, name.length), name, number(0, 0x7f, value.length), value]);
  let moved = 0;
  const { alloc, from } = Buffer;
  Buffer.alloc = ((size: number) => {
    moved += size;
    return alloc(size);
  }) as typeof alloc;
  Buffer.from = ((bytes: Buffer) => {
    moved += bytes.length;
    return from(bytes);
  }) as typeof from;
  const pieces = Array.from({ length: instruction.length }, (_, i) => instruction.subarray(i, i + 1));
  try {
    for (const [i, piece] of pieces.entries()) {
      if (!say(piece)) {
        t.fail(`refused at ${i}`);
        break;
      }
    }
  } finally {
    Object.assign(Buffer, { alloc, from });
  }
  t.equal(table.inserted, 1);
  t.equal(table.latest(1)?.value, value.toString());
  t.equal(table.latest(1)?.name.text.length, 2000);
  t.ok(moved < 20 * instruction.length, `${moved} bytes`);
});

t.test('lines that came before', async (t) => {
  const { read } = side();
  const line = (head: string, value: string): string =>
    head + Buffer.from([value.length]).toString('hex') + Buffer.from(value).toString('hex');
  const section = (...lines: string[]): Buffer => hex(`0000${lines.join('')}`);
  // user-agent is 95, :path 1, :authority 0.
  const [agent, path, authority] = ['5f50', '51', '50'];
  for (const value of ['one', 'one', 'two', 'on', 'one', '', 'ones', 'one']) {
    for (let times = 0; times < 2; times++) {
      const whole = section(line(authority, `${value}.example`), line(path, `/${value}`), line(agent, value), line(agent, value));
      t.strictSame(read(whole), [`:authority: ${value}.example`, `:path: /${value}`, `user-agent: ${value}`, `user-agent: ${value}`]);
    }
  }
  const whole = section(line(agent, 'to be cut off'));
  t.strictSame(read(whole), ['user-agent: to be cut off']);
  for (let length = 3; length < whole.length; length++) {
    t.equal(read(whole.subarray(0, length)), SECTION.INVALID, `${length} bytes of it`);
  }
  t.equal(read(whole, { field: 12, total: 32_768 }), SECTION.TOO_LARGE, 'it is longer than others may be');
  t.equal(read(whole, { field: 8192, total: 22 }), SECTION.TOO_LARGE);
  t.strictSame(read(section(line('7f50', 'of a secret'))), ['user-agent: of a secret']);
  const name = Buffer.from([0x27, 0x03]).toString('hex') + Buffer.from('user-agent').toString('hex');
  t.strictSame(read(section(line(name, 'to be cut off'))), ['user-agent: to be cut off'], 'with its name in it');
  t.equal(read(section('5f54', '00')), SECTION.INVALID, 'behind the end of the static table');
});
