import { isIPv4, isIPv6 } from 'node:net';
import t from 'tap';
import {
  type DnsAnswer,
  type DnsRecord,
  encodeQuery,
  parseAnswer,
  readName,
  readRecords,
  TYPE,
} from '../../../src/worker/resolver/message.js';
import { Mutations, trials } from './mutations.js';

const u16 = (n: number): string => String.fromCharCode(n >> 8, n & 255);
/** A record whose owner is the question's name, by a compression pointer. */
const record = (type: number, data: string, ttl = 60, owner = '\xc0\x0c'): string =>
  `${owner}${u16(type)}${u16(1)}\0\0${u16(ttl)}${u16(data.length)}${data}`;

/** An answer to a question of a type. */
function answer(type: number, flags: number, ...records: readonly string[]): string {
  const question = encodeQuery(7, 'www.example.com', type)!.subarray(12).toString('latin1');
  return `${u16(7)}${u16(flags)}${u16(1)}${u16(records.length)}${u16(0)}${u16(0)}${question}${records.join('')}`;
}

const loop = '\xc0\x21';
const answers = [
  answer(TYPE.A, 0x8180, record(TYPE.A, '\x7f\0\0\x01'), record(TYPE.A, '\x7f\0\0\x02')),
  answer(TYPE.AAAA, 0x8180, record(TYPE.AAAA, '\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01')),
  answer(TYPE.A, 0x8180, record(TYPE.CNAME, '\x03web\xc0\x10'), record(TYPE.A, '\x7f\0\0\x01', 60, '\x03web\xc0\x10')),
  answer(TYPE.SRV, 0x8580, record(TYPE.SRV, '\0\x01\0\x05\x1f\x90\x02h1\xc0\x10'), record(TYPE.SRV, '\0\x02\0\0\x1f\x91\x02h2\xc0\x10')),
  answer(TYPE.A, 0x8183),
  answer(TYPE.A, 0x8380),
  answer(TYPE.A, 0x8182),
  answer(TYPE.A, 0x8180, record(TYPE.CNAME, loop, 60, loop)),
];

const mutations = new Mutations(21, [
  ...['\0', '\x01', '\x3f', '\x40', '\xc0\x0c', '\xc0\0', '\xff\xff', '\xff', u16(1), u16(5), u16(28), u16(33), u16(0x8180), u16(0x8380)],
  ...['\x03www', '\x07example\x03com\0', record(TYPE.A, '\x7f\0\0\x01'), record(TYPE.CNAME, '\xc0\x0c')],
]);

/** The records of an answer; of an error without a question there are none. */
const read = (parsed: DnsAnswer): ReturnType<typeof readRecords> => (parsed.at === 0 ? 'no records' : readRecords(parsed, () => {}));

/** What is wrong with a record that was taken, if anything. */
function fault(type: number, { text, port, weight, priority }: DnsRecord): string | undefined {
  if (type === TYPE.A && !isIPv4(text)) {
    return 'no IPv4 address';
  }
  if (type === TYPE.AAAA && !isIPv6(text)) {
    return 'no IPv6 address';
  }
  if (text.length > 128 * 64) {
    return 'a name without bounds';
  }
  return [port, weight, priority].every((n) => Number.isInteger(n) && n >= 0) ? undefined : 'a number out of range';
}

t.test('an answer of a name server is taken or refused, whatever it is', async (t) => {
  const check = (text: string): void => {
    const bytes = Buffer.from(text, 'latin1');
    for (const tcp of [false, true]) {
      const parsed = parseAnswer(bytes, tcp);
      if (typeof parsed === 'string') {
        continue;
      }
      const records = read(parsed);
      if (typeof records === 'string') {
        continue;
      }
      const wrong = records.found.map((record) => fault(parsed.type, record)).find((found) => found !== undefined);
      if (wrong !== undefined) {
        t.fail(`${wrong}: ${bytes.toString('hex')}`);
      }
      if (records.found.length > parsed.count) {
        t.fail(`more records than announced: ${bytes.toString('hex')}`);
      }
      if (!(records.ttl >= 0 && records.ttl <= 0xffffffff)) {
        t.fail(`a life out of range: ${bytes.toString('hex')}`);
      }
      const alias = readName(bytes, records.alias || 12);
      if (typeof alias === 'object' && alias.name.length > 128 * 64) {
        t.fail(`a name without bounds: ${bytes.toString('hex')}`);
      }
    }
  };
  for (const text of answers) {
    for (let length = 0; length <= text.length; length++) {
      check(text.slice(0, length));
    }
  }
  for (let i = trials(20_000); i > 0; i--) {
    check(mutations.mutated(answers));
  }
  t.pass();
});

/** The name that an answer's CNAME record points at, or what is wrong with it. */
function aliasOf(data: string): string {
  const parsed = parseAnswer(Buffer.from(answer(TYPE.A, 0x8180, record(TYPE.CNAME, data)), 'latin1'), true);
  const records = typeof parsed === 'string' ? parsed : read(parsed);
  if (typeof parsed === 'string' || typeof records === 'string') {
    return String(records);
  }
  const name = readName(parsed.bytes, records.alias);
  return typeof name === 'string' ? name : name.name;
}

t.test('a name of many labels and pointers is refused, as nginx does', async (t) => {
  // Each pointer leads to a run of labels that ends in the next pointer: a small answer, a name of megabytes.
  const labels = '\x01a'.repeat(100);
  let runs = '';
  const start = answer(TYPE.A, 0x8180).length + 12;
  for (let i = 0; i < 50; i++) {
    const next = start + (i + 1) * (labels.length + 2);
    runs += `${labels}${u16(0xc000 | next)}`;
  }
  t.equal(aliasOf(`${runs}\0`), 'compression pointers loop in DNS response');
});

t.test('labels of an unknown type are refused', async (t) => {
  t.equal(aliasOf('\x80\x0c'), 'invalid label type in DNS response');
});
