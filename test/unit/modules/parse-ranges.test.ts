import t from 'tap';
import { parseRanges, UNLIMITED } from '../../../src/worker/modules/range/parse-ranges.js';

const ranges = (text: string, length = 100, max = UNLIMITED) => {
  const parsed = parseRanges(text, length, max);
  return Array.isArray(parsed) ? parsed.map(({ start, end }) => `${start}-${end}`).join(' ') : parsed;
};

t.test('parseRanges', async (t) => {
  for (const [text, wanted] of [
    ['0-0', '0-1'],
    ['0-', '0-100'],
    ['99-', '99-100'],
    ['-1', '99-100'],
    ['-1000', '0-100'],
    ['90-1000', '90-100'],
    ['0-9223372036854775807', '0-100'],
    [' 1 - 2 , 5-6', '1-3 5-7'],
    ['1-2,100-', '1-3'],
    ['00001-00002', '1-3'],
    ['', 416],
    ['-', 416],
    ['- 1', 416],
    ['100-', 416],
    ['-0', 416],
    ['2-1', 416],
    ['1-2x', 416],
    ['1-2,', 416],
    ['9223372036854775808-', 416],
    ['0-9223372036854775808', 416],
    ['0-99,0-0', undefined],
  ] as const) {
    t.equal(ranges(text), wanted, text);
  }
  t.equal(ranges('0-1', 0), undefined, 'an empty body is sent whole');
  t.equal(ranges('0-0,1-1', 100, 1), undefined, 'too many');
  t.equal(ranges('0-0,1-1', 100, 2), '0-1 1-2');
  const many = Array.from({ length: 17 }, (_, i) => `${i}-${i}`).join(',');
  t.equal(ranges(many), undefined, 'many small ones cost more than the whole');
  t.type(ranges(many, 100, 20), 'string', 'unless they were asked for');
});
