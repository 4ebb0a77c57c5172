import t from 'tap';
import { parseOffset, parseSize, parseTime } from '../../../src/shared/config/language/units.js';

// [text, size, offset], undefined where nginx refuses.
const sizes: [string, number | undefined, number | undefined][] = [
  ['0', 0, 0],
  ['1024', 1024, 1024],
  ['0008k', 8192, 8192],
  ['8K', 8192, 8192],
  ['1m', 1048576, 1048576],
  ['10M', 10485760, 10485760],
  ['1g', undefined, 1073741824],
  ['2G', undefined, 2147483648],
  ['', undefined, undefined],
  ['k', undefined, undefined],
  ['-1', undefined, undefined],
  ['+1', undefined, undefined],
  ['1.5m', undefined, undefined],
  ['1 k', undefined, undefined],
  [' 1', undefined, undefined],
  ['1kk', undefined, undefined],
  ['0x10', undefined, undefined],
  ['1e3', undefined, undefined],
  ['9223372036854775807', 2 ** 63, 2 ** 63],
  ['9223372036854775808', undefined, undefined],
  ['9007199254740991k', 9007199254740991 * 1024, 9007199254740991 * 1024],
  ['9007199254740992k', undefined, undefined],
  ['8589934591g', undefined, 8589934591 * 2 ** 30],
  ['8589934592g', undefined, undefined],
  ['9'.repeat(4000), undefined, undefined],
];

for (const [text, size, offset] of sizes) {
  t.equal(parseSize(text), size, `size ${text.slice(0, 40)}`);
  t.equal(parseOffset(text), offset, `offset ${text.slice(0, 40)}`);
}

// [text, milliseconds, seconds]
const times: [string, number | undefined, number | undefined][] = [
  ['0', 0, 0],
  ['60', 60_000, 60],
  ['500ms', 500, undefined],
  ['1s', 1000, 1],
  ['2m', 120_000, 120],
  ['1h', 3_600_000, 3600],
  ['1d', 86_400_000, 86_400],
  ['1w', 604_800_000, 604_800],
  ['1M', undefined, 2_592_000],
  ['1y', undefined, 31_536_000],
  ['1h 30m', 5_400_000, 5400],
  ['1h30m', 5_400_000, 5400],
  ['1h   30', 3_630_000, 3630],
  ['1d12h30m5s100ms', 131_405_100, undefined],
  ['1s1ms', 1001, undefined],
  ['1y1M1w1d1h1m1s', undefined, 31_536_000 + 2_592_000 + 604_800 + 86_400 + 3600 + 60 + 1],
  // A number without a unit may follow anything and is in seconds.
  ['1s1', 2000, 2],
  ['1 2', 3000, 3],
  ['1ms5', 5001, undefined],
  ['h1', 1000, 1],
  [' 1', 1000, 1],
  ['1 ', 1000, 1],
  ['', undefined, undefined],
  [' ', undefined, undefined],
  ['h', undefined, undefined],
  ['30m 1h', undefined, undefined],
  ['1h1h', undefined, undefined],
  ['1ms1s', undefined, undefined],
  ['1s 1s', undefined, undefined],
  ['1 h', undefined, undefined],
  ['1  2 3', undefined, undefined],
  ['1H', undefined, undefined],
  ['-1', undefined, undefined],
  ['1.5s', undefined, undefined],
  ['1h\t1m', undefined, undefined],
  ['9223372036854775807', undefined, 2 ** 63],
  ['9223372036854775808s', undefined, undefined],
  ['9223372036854775s', Number('9223372036854775000'), Number('9223372036854775')],
  ['9223372036854776s', undefined, Number('9223372036854776')],
  ['292471208677y', undefined, 292471208677 * 31_536_000],
  ['292471208678y', undefined, undefined],
];

for (const [text, milliseconds, seconds] of times) {
  t.equal(parseTime(text, 'ms'), milliseconds, `"${text}" in milliseconds`);
  t.equal(parseTime(text, 's'), seconds, `"${text}" in seconds`);
}
