import t from 'tap';
import { WildcardHash } from '../../../src/worker/lookup/wildcard-hash.js';

function build(...keys: string[]): WildcardHash<string> {
  const hash = new WildcardHash<string>();
  for (const key of keys) {
    hash.add(key, key, true);
  }
  return hash;
}

t.test('exact names win over wildcards, leading ones over trailing ones', async (t) => {
  const hash = build('www.example.com', '*.example.com', 'www.example.*', '*.com');
  t.equal(hash.find('www.example.com'), 'www.example.com');
  t.equal(hash.find('a.example.com'), '*.example.com');
  t.equal(hash.find('a.b.example.com'), '*.example.com', 'a star covers several labels');
  t.equal(hash.find('example.com'), '*.com', 'a star needs a label of its own');
  t.equal(hash.find('com'), undefined);
  t.equal(hash.find('www.example.org'), 'www.example.*');
  t.equal(hash.find('www.example.co.uk'), 'www.example.*');
  t.equal(hash.find('www.example'), undefined);
  t.equal(hash.find(''), undefined);
});

t.test('the longest wildcard wins, and a deeper miss falls back', async (t) => {
  const hash = build('*.com', '*.a.example.com', '.example.com', 'mail.*', 'mail.example.*');
  t.equal(hash.find('x.a.example.com'), '*.a.example.com');
  t.equal(hash.find('a.example.com'), '.example.com');
  t.equal(hash.find('example.com'), '.example.com', 'a leading dot includes the name');
  t.equal(hash.find('other.com'), '*.com');
  t.equal(hash.find('mail.example.org'), 'mail.example.*');
  t.equal(hash.find('mail.example'), 'mail.*');
  t.equal(hash.find('mail.other.org'), 'mail.*');
  t.equal(hash.find('mail'), undefined);
  t.equal(hash.find('.example.com'), '.example.com');
  t.equal(hash.find('.org'), undefined);
});

t.test('an inner label without a value of its own', async (t) => {
  const hash = build('*.a.example.com', 'mail.example.*');
  t.equal(hash.find('example.com'), undefined);
  t.equal(hash.find('b.example.com'), undefined);
  t.equal(hash.find('mail.other.org'), undefined);
});

t.test('conflicts are found as nginx finds them, and the first key stays', async (t) => {
  const hash = new WildcardHash<number>();
  t.equal(hash.add('a.com', 1, true), 'ok');
  t.equal(hash.add('A.com', 2, true), 'conflict');
  t.equal(hash.add('.a.com', 3, true), 'conflict', 'a leading dot takes the exact name too');
  t.equal(hash.add('*.a.com', 4, true), 'ok');
  t.equal(hash.add('*.A.com', 5, true), 'conflict');
  t.equal(hash.add('.b.com', 6, true), 'ok');
  t.equal(hash.add('b.com', 7, true), 'conflict');
  t.equal(hash.add('*.b.com', 8, true), 'conflict');
  t.equal(hash.add('*.c.com', 9, true), 'ok');
  t.equal(hash.add('.c.com', 10, true), 'conflict');
  t.equal(hash.add('c.com', 11, true), 'conflict', 'the ignored .c.com has taken c.com');
  t.equal(hash.add('d.*', 12, true), 'ok');
  t.equal(hash.add('d.*', 13, true), 'conflict');
  t.equal(hash.find('a.com'), 1);
  t.equal(hash.find('c.com'), undefined);
  t.equal(hash.find('x.c.com'), 9);
  t.equal(hash.find('d.com'), 12);
  t.equal(hash.size, 5);
});

t.test('invalid wildcards', async (t) => {
  const hash = new WildcardHash<number>();
  for (const key of ['*', '*.', '*.*', 'a.*.com', 'w*.example.com', 'a..com', '*a.com', 'a.com*', 'a\0b']) {
    t.equal(hash.add(key, 1, true), 'invalid', key);
  }
  t.equal(hash.add('.', 1, true), 'ok', 'a lone dot is an exact name');
  t.equal(hash.add('', 2, true), 'ok');
  t.equal(hash.find(''), 2);
  t.equal(hash.add('.*', 3, true), 'ok', 'after a leading dot a star is a letter');
  t.equal(hash.find('*'), 3);
});

t.test('without wildcards every key is exact', async (t) => {
  const hash = new WildcardHash<number>();
  t.equal(hash.add('*.example.com', 1, false), 'ok');
  t.equal(hash.add('.example.com', 2, false), 'ok');
  t.equal(hash.add('A..b', 3, false), 'ok');
  t.equal(hash.find('x.example.com'), undefined);
  t.equal(hash.find('*.example.com'), 1);
  t.equal(hash.find('a..b'), 3);
});

t.test('thousands of keys', async (t) => {
  const hash = new WildcardHash<number>();
  for (let i = 0; i < 5000; i++) {
    hash.add(`*.host${i}.example.com`, i, true);
  }
  t.equal(hash.find('www.host4321.example.com'), 4321);
  t.equal(hash.find('www.host5000.example.com'), undefined);
  t.equal(hash.find('a.'.repeat(4000)), undefined);
});
