import { Buffer } from 'node:buffer';
import t from 'tap';
import type { Field } from '../../../src/worker/http/fields/field.js';
import {
  BLOCK_CUT_OFF,
  BLOCK_INVALID,
  BLOCK_NAMELESS,
  BLOCK_TOO_LARGE,
  DECODED,
  HpackDecoder,
} from '../../../src/worker/http/http2-frames/hpack/decoder.js';
import { HpackEncoder, hpackName, KEEP } from '../../../src/worker/http/http2-frames/hpack/encoder.js';
import { HOPELESS, lookAhead } from '../../../src/worker/http/http2-frames/hpack/look-ahead.js';

const LIMITS = { field: 100, total: 1000 };

class Seen {
  lines: string[] = [];
  field({ name, value }: Field): void {
    this.lines.push(`${name.text}: ${value}`);
  }
}

function decode(decoder: HpackDecoder, hex: string, limits = LIMITS): { code: number; lines: string[] } {
  const seen = new Seen();
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  return { code: decoder.decode(bytes, 0, bytes.length, limits, seen), lines: seen.lines };
}

t.test("the specification's requests, C.3 and C.4", async (t) => {
  const plain = [
    '828684410f7777772e6578616d706c652e636f6d',
    '828684be58086e6f2d6361636865',
    '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
  ];
  const coded = ['828684418cf1e3c2e5f23a6ba0ab90f4ff', '828684be5886a8eb10649cbf', '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf'];
  for (const blocks of [plain, coded]) {
    const decoder = new HpackDecoder();
    t.strictSame(decode(decoder, blocks[0]!).lines, [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com']);
    t.equal(decoder.table.size, 57);
    t.equal(decode(decoder, blocks[1]!).lines.at(-1), 'cache-control: no-cache');
    t.equal(decoder.table.size, 110);
    t.strictSame(decode(decoder, blocks[2]!).lines, [
      ':method: GET',
      ':scheme: https',
      ':path: /index.html',
      ':authority: www.example.com',
      'custom-key: custom-value',
    ]);
    t.equal(decoder.table.size, 164);
  }
});

t.test('the oldest fields are dropped: C.5 with a table of 256 bytes', async (t) => {
  const decoder = new HpackDecoder();
  t.equal(decode(decoder, '3fe101').code, DECODED);
  decode(
    decoder,
    '4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d',
  );
  t.equal(decoder.table.size, 222);
  t.equal(decode(decoder, '4803333037c1c0bf').lines[0], ':status: 307');
  t.equal(decoder.table.size, 222);
  t.equal(decoder.table.count, 4);
});

t.test('a table that grows, shrinks and wraps round', async (t) => {
  const decoder = new HpackDecoder();
  for (let i = 0; i < 1000; i++) {
    const value = String(i).padStart(4, '0');
    t.equal(decode(decoder, `4001 61 04 ${Buffer.from(value).toString('hex')}`).code, DECODED);
    if (i % 100 === 50) {
      decode(decoder, '3f1f');
    }
    if (i % 100 === 80) {
      decode(decoder, '3fe11f');
    }
    t.strictSame(decode(decoder, 'be').lines, [`a: ${value}`]);
    if (decoder.table.size > 4096) {
      t.fail('too large');
    }
  }
  t.equal(decode(decoder, '20').code, DECODED);
  t.equal(decoder.table.count, 0);
  t.equal(decode(decoder, '40 01 61 01 62').code, DECODED);
  t.equal(decoder.table.count, 0, 'a field larger than the table');
});

t.test('what is refused', async (t) => {
  const cases: readonly (readonly [string, number, string])[] = [
    ['80', BLOCK_INVALID, 'client sent invalid hpack table index'],
    ['be', BLOCK_INVALID, 'client sent invalid hpack table index'],
    ['7f', BLOCK_CUT_OFF, 'client sent header block with incorrect length'],
    ['42ff', BLOCK_CUT_OFF, 'client sent header block with incorrect length'],
    ['42ffffffff01', BLOCK_INVALID, 'client sent header field with too long length value'],
    ['ffffffffff0f', BLOCK_INVALID, 'client sent header block with too long header index value'],
    ['823f01', BLOCK_INVALID, 'client sent table size update behind a field'],
    ['3fe21f', BLOCK_INVALID, 'client sent invalid table size update: 4097'],
    ['00', BLOCK_CUT_OFF, 'client sent header block with incorrect length'],
    ['0001', BLOCK_CUT_OFF, 'client sent header field with incorrect length'],
    ['000161', BLOCK_CUT_OFF, 'client sent header block with incorrect length'],
    ['000000', BLOCK_NAMELESS, 'client sent zero header name length'],
    ['000161 82ffff', BLOCK_INVALID, 'client sent invalid encoded header field'],
    [`000161 65 ${'61'.repeat(101)}`, BLOCK_TOO_LARGE, 'client sent too large header field'],
    [`400161 60 ${'61'.repeat(96)} ${'be'.repeat(20)}`, BLOCK_TOO_LARGE, 'client sent too large header'],
  ];
  for (const [hex, code, problem] of cases) {
    const decoder = new HpackDecoder();
    t.equal(decode(decoder, hex).code, code, hex);
    t.equal(decoder.problem, problem);
  }
});

t.test('a block cut off anywhere is invalid, never out of its bounds', async (t) => {
  const whole = '828684418cf1e3c2e5f23a6ba0ab90f4ff400a637573746f6d2d6b65790c637573746f6d2d76616c7565';
  for (let i = 2; i < whole.length; i += 2) {
    const { code, lines } = decode(new HpackDecoder(), whole.slice(0, i));
    t.ok(code === BLOCK_CUT_OFF || lines.length === [2, 4, 6, 34].indexOf(i) + 1, String(i));
  }
});

t.test('a look at the beginning of a block', async (t) => {
  const whole = Buffer.from('828684418cf1e3c2e5f23a6ba0ab90f4ff400a637573746f6d2d6b65790c637573746f6d2d76616c7565', 'hex');
  let from = 0;
  for (let end = 0; end <= whole.length; end++) {
    from = lookAhead(whole, from, end);
    t.equal(from, end < 1 ? 0 : end < 2 ? 1 : end < 3 ? 2 : end < 17 ? 3 : end < whole.length ? 17 : whole.length, String(end));
  }
  for (const hex of ['ffffffff', '42ffffffff', '4001617fffffff', '82ffffffff', '3fffffff']) {
    const bytes = Buffer.from(hex, 'hex');
    t.equal(lookAhead(bytes, 0, bytes.length), HOPELESS, hex);
    t.not(lookAhead(bytes, 0, bytes.length - 1), HOPELESS, 'a byte less');
  }
});

/** Encodes sections one after another and decodes them. */
class Pair {
  readonly encoder = new HpackEncoder();
  readonly decoder = new HpackDecoder();

  send(fields: readonly (readonly [string, string, number?])[]): { bytes: number; lines: string[] } {
    const into = Buffer.alloc(20_000);
    let at = this.encoder.begin(into, 0);
    for (const [name, value, keep] of fields) {
      at = this.encoder.field(into, at, hpackName(name, keep), value);
    }
    const { code, lines } = decode(this.decoder, into.toString('hex', 0, at), { field: 20_000, total: 40_000 });
    if (code !== DECODED) {
      throw new Error(this.decoder.problem);
    }
    return { bytes: at, lines };
  }
}

t.test('what repeats becomes one byte', async (t) => {
  const pair = new Pair();
  const fields: [string, string, number?][] = [
    ['Server', 'sluice', KEEP.ALWAYS],
    ['X-Answer', 'forty-two'],
  ];
  const lines = ['server: sluice', 'x-answer: forty-two'];
  t.strictSame(pair.send(fields).lines, lines);
  t.strictSame(pair.send(fields).lines, lines);
  t.strictSame(pair.send(fields), { bytes: 2, lines });
  t.strictSame(pair.send([['x-answer', 'forty-two']]), { bytes: 1, lines: lines.slice(1) }, 'another spelling');
  t.ok(pair.send([['set-cookie', 'a=b']]).bytes > 2);
  t.ok(pair.send([['set-cookie', 'a=b']]).bytes > 2, 'a secret is never kept');
});

t.test('thousands of sections with values that change, through every limit of the table', async (t) => {
  const pair = new Pair();
  for (let i = 0; i < 3000; i++) {
    if (i % 301 === 300) {
      pair.encoder.resize([0, 100, 4096, 64, 10_000][i % 5]!);
    }
    if (i % 602 === 600) {
      pair.encoder.resize(0);
    }
    const fields: [string, string, number?][] = [
      ['date', `day ${i >> 3}`, KEEP.ALWAYS],
      [`x-${i % 40}`, `value ${i % 7}`],
      ['etag', `"${i % 3}${'x'.repeat((i * 7) % 300)}"`],
      ['', ''],
    ];
    fields.pop();
    const { lines } = pair.send(fields);
    t.strictSame(
      lines,
      fields.map(([name, value]) => `${name}: ${value}`),
    );
    if (pair.decoder.table.size > 4096) {
      t.fail('too large');
    }
  }
});

t.test('a table of nothing keeps nothing, and is told of', async (t) => {
  const pair = new Pair();
  pair.send([['server', 'a', KEEP.ALWAYS]]);
  pair.encoder.resize(0);
  pair.send([['server', 'a', KEEP.ALWAYS]]);
  t.equal(pair.decoder.table.size, 0);
  pair.encoder.resize(4096);
  pair.send([['server', 'a', KEEP.ALWAYS]]);
  t.equal(pair.decoder.table.count, 1);
});
