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

t.test('the analysis takes as long as the pattern is, however deep it is nested', async (t) => {
  // An analysis that looks at a body twice a level would not come to an end.
  const nested = (open: string, close: string): string => `^/${open.repeat(200)}a${close.repeat(200)}`;
  for (const [open, close] of [
    ['(', ')+'],
    ['(?:', ')*'],
    ['(?:', ')??'],
    ['(?:', ')?'],
    ['(?:', '){2}'],
    ['(', '|b)'],
    ['(?>', ')+'],
  ] as const) {
    t.type(limit(`${nested(open, close)}$`), 'number', `${open}a${close}`);
  }
  t.equal(limit(`${nested('(?:(?=a)', ')+')}$`), -1);
  t.type(limit(`(?<=${'(?:'.repeat(200)}a${'|b)'.repeat(200)})c`), 'number', 'the length of a lookbehind');
  t.equal(limit(`^(?<=${'(?(?=a)'.repeat(100)}a${'|b)'.repeat(100)})c`), -1, 'and of conditions in it');
});
