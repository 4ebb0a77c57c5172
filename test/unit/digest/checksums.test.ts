import t from 'tap';
import { crc32, crc32Finish, crc32Start, crc32Update } from '../../../src/worker/digest/crc32.js';
import { md5Bytes, md5Hex } from '../../../src/worker/digest/md5.js';
import { murmurHash2 } from '../../../src/worker/digest/murmur-hash2.js';

t.test('crc32', async (t) => {
  t.equal(crc32(''), 0);
  t.equal(crc32('a'), 3904355907);
  t.equal(crc32('123456789'), 3421780262);
  t.equal(crc32('\xff\x00\xe9'), 2551166755);
  t.equal(crc32Finish(crc32Update(crc32Update(crc32Start, '1234'), '56789')), crc32('123456789'), 'in parts');
});

t.test('murmurHash2', async (t) => {
  for (const [text, hash] of [
    ['', 0],
    ['a', 2456313694],
    ['ab', 446775395],
    ['abc', 324500635],
    ['abcd', 646393889],
    ['abcde', 1594468574],
    ['127.0.0.1AAA', 3053215307],
    ['\xff\xfe\xfd', 1029784976],
    ['The quick brown fox jumps over the lazy dog', 556214736],
  ] as const) {
    t.equal(murmurHash2(text), hash, JSON.stringify(text));
  }
});

t.test('md5', async (t) => {
  t.equal(md5Hex(''), 'd41d8cd98f00b204e9800998ecf8427e');
  t.equal(md5Hex('\xe9'), md5Bytes('\xe9').toString('hex'));
  t.equal(md5Hex('\xe9'), '3406877694691ddd1dfb0aca54681407', 'one byte, not its UTF-8 form');
});
