import t from 'tap';
import { parseRegex } from '../../../src/shared/regex/parse.js';
import { leadingRun, longestSafe } from '../../../src/shared/regex/safe-length.js';

function limit(pattern: string): number {
  const { root } = parseRegex(pattern, false);
  return longestSafe(root, leadingRun(root) !== undefined);
}

t.test('patterns whose work grows with the subject have no limit', async (t) => {
  for (const pattern of [
    '^/api/',
    '\\.(?:jpg|jpeg|gif|png)$',
    '^/([^/]+)/([^/]+)/(.*)$',
    '^(/[a-z]+)*$',
    '^(?:[^/]+/)*index\\.html$',
    '.*\\.php$',
    '^~?[a-z0-9-]+\\.example\\.(?:com|net)$',
  ]) {
    t.equal(limit(pattern), Number.POSITIVE_INFINITY, pattern);
  }
});

t.test('the limit falls with the number of ways to divide the subject', async (t) => {
  const square = limit('/uploads/.*\\.php$');
  const cube = limit('/a.*b.*\\.php$');
  t.ok(square >= 1000 && square < 8192, String(square));
  t.ok(cube >= 50 && cube < square, String(cube));
});

t.test('exponential patterns are never given to RegExp', async (t) => {
  for (const pattern of [
    '^(a+)+$',
    '(a|a?)+$',
    '(x+x+)+y',
    '^/w/(.*a){25}$',
    '(\\w+\\s?)+!',
    '(?:a?){50}b',
    '(a|ab|b)*c',
    '(a{1,9}){9}b',
  ]) {
    t.equal(limit(pattern), -1, pattern);
  }
});
