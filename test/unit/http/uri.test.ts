import t from 'tap';
import { normalizeUri, parseUnsafeUri, type UriParts } from '../../../src/worker/http/syntax/uri.js';
import { argValue } from '../../../src/worker/http/syntax/uri-args.js';
import { escapeHtml, escapeUri, unescapeUri } from '../../../src/worker/http/syntax/uri-escape.js';

// How targets are normalised is in test/protocol/request-target.md.

const parts = (raw: string): UriParts | undefined => {
  const out: UriParts = { uri: '', args: '', exten: '', complexUri: false, quotedUri: false, plusInUri: false };
  return normalizeUri(raw, true, out) ? out : undefined;
};

t.test('normalizeUri notes what the path was made of', async (t) => {
  const plain = { args: '', exten: '', complexUri: false, quotedUri: false, plusInUri: false };
  t.strictSame(parts('/a'), { ...plain, uri: '/a' });
  t.strictSame(parts('/a.b?c'), { ...plain, uri: '/a.b', args: 'c', exten: 'b' });
  t.strictSame(parts('/a//b'), { ...plain, uri: '/a/b', complexUri: true });
  t.strictSame(parts('/%61%2b'), { ...plain, uri: '/a+', quotedUri: true, plusInUri: true });
  t.strictSame(parts('/a+b'), { ...plain, uri: '/a+b', plusInUri: true });
  t.strictSame(parts('/a?+%//'), { ...plain, uri: '/a', args: '+%//' });
  t.strictSame(parts('?a#b'), { ...plain, uri: '/', args: 'a' });
  t.strictSame(parts(`/${'%41'.repeat(5000)}`), { ...plain, uri: `/${'A'.repeat(5000)}`, quotedUri: true }, 'long paths');
  for (const bad of ['a', ' ', '/a b', '/a\x01', '/a?\x7f', '/a/%2e%2e/..']) {
    t.equal(parts(bad), undefined, bad);
  }
});

t.test('parseUnsafeUri', async (t) => {
  t.strictSame(parseUnsafeUri('/a/b?c?d'), { uri: '/a/b', args: 'c?d' });
  t.strictSame(parseUnsafeUri('a%20b//c?%20'), { uri: 'a b//c', args: '%20' });
  t.strictSame(parseUnsafeUri('/a..b/..c/d../...'), { uri: '/a..b/..c/d../...', args: '' });
  t.strictSame(parseUnsafeUri('/?a/../b\0'), { uri: '/', args: 'a/../b\0' });
  const unsafe = [
    '',
    '?a',
    '..',
    '../a',
    '/..',
    '/../a',
    '/a/..',
    '/a/../b',
    '/a/..?b',
    '/a\0',
    '/%00',
    '/%2e./a',
    '/a%2f..',
    '%2e%2e',
    '/...//../',
  ];
  for (const text of unsafe) {
    t.equal(parseUnsafeUri(text), undefined, JSON.stringify(text));
  }
});

const printable = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('');

t.test('escapeUri', async (t) => {
  const escaped = (type: Parameters<typeof escapeUri>[1]) => [...printable].filter((c) => escapeUri(c, type) !== c).join('');
  t.equal(escaped('uri'), ' "#%<>?\\^`{|}');
  t.equal(escaped('args'), ' "#%&+;<>?\\^`{|}');
  t.equal(escaped('component'), ' !"#$%&\'()*+,/:;<=>?@[\\]^`{|}');
  t.equal(escaped('html'), ' "#%\'<>\\^`{|}');
  t.equal(escaped('refresh'), ' "\'<>\\^`{|~');
  t.equal(escaped('memcached'), ' %');
  t.equal(escapeUri('\0\x1f\x7f\x80\xff', 'uri'), '%00%1F%7F%80%FF');
  t.equal(escapeUri('\0\x1f\x7f\x80\xff', 'memcached'), '%00%1F\x7f\x80\xff');
  t.equal(escapeUri('/a b/c%d', 'uri'), '/a%20b/c%25d');
  t.equal(escapeUri('', 'uri'), '');
});

t.test('unescapeUri', async (t) => {
  t.equal(unescapeUri('/a%20b%3F?%41', 'all'), '/a b??A');
  t.equal(unescapeUri('a%zb%4zc%', 'all'), 'azbc', 'broken sequences');
  t.equal(unescapeUri('%e4%4', 'all'), '\xe4');
  t.equal(unescapeUri('/a%20%41%2f%25%7e%7f%c3?%41', 'redirect'), '/a%20A/%25~%7f%c3?%41');
  t.equal(unescapeUri('/%41%3f%41', 'redirect'), '/A?%41', 'an encoded "?" ends it too');
  t.equal(unescapeUri('/%4?a', 'redirect'), '/?a');
  t.equal(unescapeUri('/?%41', 'redirect'), '/?%41');
});

t.test('escapeHtml', async (t) => {
  t.equal(escapeHtml('a<b>&"c\''), "a&lt;b&gt;&amp;&quot;c'");
  t.equal(escapeHtml('plain'), 'plain');
});

t.test('argValue', async (t) => {
  const args = 'aa=1&A=2&b&=x&c==3&a=4&d=';
  t.equal(argValue(args, 'a'), '2', 'the first, in any case');
  t.equal(argValue(args, 'aa'), '1');
  t.equal(argValue(args, 'b'), undefined, 'no "="');
  t.equal(argValue(args, 'c'), '=3');
  t.equal(argValue(args, 'd'), '');
  t.equal(argValue(args, 'x'), undefined);
  t.equal(argValue('', 'a'), undefined);
});
