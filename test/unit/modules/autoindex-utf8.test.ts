import t from 'tap';
import { clipUtf8, utf8Length } from '../../../src/worker/modules/autoindex/utf8.js';

const bytes = (text: string): string => Buffer.from(text).toString('latin1');

t.test('utf8Length and clipUtf8', async (t) => {
  for (const [text, length] of [
    [bytes('abc'), 3],
    [bytes('фф'), 2],
    [bytes('€'), 1],
    [bytes('😀a'), 2],
    ['\xff', 1],
    ['a\xd1', 2],
    ['\xc0\xaf', 2],
    ['\xe0\x80\x80', 3],
    ['\xf8\x88\x80\x80\x80', 5],
    ['\xd1\x41', 2],
    ['', 0],
  ] as const) {
    t.equal(utf8Length(text), length, JSON.stringify(text));
  }
  t.equal(clipUtf8(bytes('aф€😀z'), 4), bytes('aф€😀'));
  t.equal(clipUtf8(bytes('aф'), 9), bytes('aф'));
  t.equal(clipUtf8('ab\xffcd', 4), 'ab');
});
