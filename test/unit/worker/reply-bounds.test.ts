import t from 'tap';
import { ReplyBounds } from '../../../src/worker/fleet/reply-bounds.js';

const read = (text: string): number | string => new ReplyBounds().take(Buffer.from(text, 'latin1'));

t.test('replies are counted, however they are cut', async (t) => {
  const replies = [
    '+OK\r\n',
    '-ERR no\r\n',
    ':-5\r\n',
    '$-1\r\n',
    '*-1\r\n',
    '$0\r\n\r\n',
    '$7\r\na\r\nb\n*1\r\n',
    '*0\r\n',
    '*2\r\n:0\r\n*2\r\n$1\r\na\r\n$-1\r\n',
    '*1\r\n*1\r\n*0\r\n',
  ];
  for (const reply of replies) {
    t.equal(read(reply), 1, JSON.stringify(reply));
  }
  const all = Buffer.from(replies.join(''), 'latin1');
  t.equal(read(all.toString('latin1')), replies.length);
  const bounds = new ReplyBounds();
  let whole = 0;
  for (let at = 0; at < all.length; at++) {
    whole += bounds.take(all.subarray(at, at + 1)) as number;
  }
  t.equal(whole, replies.length, 'byte by byte');
});

t.test('what no program of ours answers', async (t) => {
  t.equal(read('*1048577\r\n'), 'a list is too long');
  t.equal(read('*2\r\n*1000000\r\n:1\r\n'), 0);
  t.equal(read(`*3\r\n${'*600000\r\n'.repeat(2)}`), 'a list is too long', 'lists together');
  t.equal(read('*1\r\n'.repeat(17)), 'a list is too long', 'lists in lists');
  t.equal(read('$67108865\r\n'), 'a text is too long');
  t.equal(read('$x\r\n'), 'a text is too long');
  t.equal(read('*1e3\r\n'), 'a list is too long');
  t.equal(read(`+${'x'.repeat(65_536)}`), 'a line is too long');
  t.equal(read('@5\r\n'), 'it is no reply');
  t.equal(read('\r\n'), 'it is no reply');
});
