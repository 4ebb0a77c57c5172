import t from 'tap';
import {
  parseDictionary,
  parseItem,
  parseList,
  writeDictionary,
  writeItem,
  writeList,
} from '../../../src/worker/http/syntax/structured-fields.js';

const dictionary = (text: string): string | undefined => {
  const value = parseDictionary(text);
  return value && writeDictionary(value);
};
const list = (text: string): string | undefined => {
  const value = parseList(text);
  return value && writeList(value);
};
const item = (text: string): string | undefined => {
  const value = parseItem(text);
  return value && writeItem(value);
};

t.test('values are written in one way', async (t) => {
  for (const [text, written] of [
    ['5', '5'],
    [' -0 ', '0'],
    ['007', '7'],
    ['-999999999999999', '-999999999999999'],
    ['1.50', '1.5'],
    ['10.0', '10.0'],
    ['-0.0', '0.0'],
    ['"a \\"b\\" \\\\"', '"a \\"b\\" \\\\"'],
    ['"a";b;c=?0;d=?1;e="x"', '"a";b;c=?0;d;e="x"'],
    ['a/b:c*', 'a/b:c*'],
    [':aGk=:', ':aGk=:'],
    ['::', '::'],
    ['?1', '?1'],
    ['@1659578233', '@1659578233'],
  ] as const) {
    t.equal(item(text), written, text);
  }
  t.equal(list('(a  b );x,\tc , "d"'), '(a b);x, c, "d"');
  t.equal(list(''), '');
  t.equal(list('()'), '()');
  t.equal(dictionary('a, b=?1;q=1, c=?0, d=(x y);z, e = 5'.replace(' = ', '=')), 'a, b;q=1, c=?0, d=(x y);z, e=5');
  t.equal(dictionary(''), '');
});

t.test('what is not well formed, or could be read in two ways, is nothing', async (t) => {
  for (const text of [
    '',
    '5,',
    '5 6',
    '1.',
    '1.2345',
    '1234567890123456',
    '1234567890123.0',
    '--1',
    '-',
    '"a',
    '"a\\b"',
    '"a\nb"',
    '"é"',
    ':a:',
    ':aGk:',
    ':aGl=:',
    ':aGk=',
    '?2',
    '?',
    '@1.5',
    '@',
    'é',
    '(a',
    '(a)',
    '5;',
    '5;A',
    '5;a=',
    '5;a;a',
    '%"x"',
    '\t5',
    '5\t',
  ]) {
    t.equal(item(text), undefined, JSON.stringify(text));
  }
  for (const text of ['a,', ',a', 'a b', '(a b', '(a"b")', '((a))', '(a,b)', '(a\tb)', 'a,,b']) {
    t.equal(list(text), undefined, text);
  }
  for (const text of ['A=1', 'a=', 'a=1,', 'a=1 b=2', 'a=1, a=2', 'a, a', '=1', '1=a', 'a =1', 'a= 1', 'a=(b', 'a=1;b=2;b=3']) {
    t.equal(dictionary(text), undefined, text);
  }
});

t.test('bounds', async (t) => {
  const many = (count: number, one: (i: number) => string, separator = ', '): string =>
    Array.from({ length: count }, (_, i) => one(i)).join(separator);
  t.ok(dictionary(many(128, (i) => `a${i}`)));
  t.equal(dictionary(many(129, (i) => `a${i}`)), undefined);
  t.equal(list(many(129, () => 'a')), undefined);
  t.equal(list(`(${many(129, () => 'a', ' ')})`), undefined);
  t.equal(item(`a${many(129, (i) => `;b${i}`, '')}`), undefined);
  t.equal(item(`"${'x'.repeat(1e6)}`), undefined);
  t.equal(list('('.repeat(1e6)), undefined);
  t.equal(list(' '.repeat(1e6)), '');
});
