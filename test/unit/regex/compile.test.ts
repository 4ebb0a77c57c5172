// The JSON files beside this test hold what nginx's PCRE2 (10.42) answers: patterns of real configurations,
// one case or more for each construct, and the error texts for malformed patterns.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { compileRegex, matchFailure, requestSteps } from '../../../src/shared/regex/compile.js';
import { emitJs } from '../../../src/shared/regex/emit-js.js';
import { Matcher } from '../../../src/shared/regex/matcher.js';
import { parseRegex } from '../../../src/shared/regex/parse.js';

type Case = [caseless: boolean, pattern: string, results: [subject: string, match: (string | null)[] | null][]];

function load<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
}

/** A payer who has not matched anything yet. */
function payer() {
  return { matchSteps: requestSteps };
}

/** JSON has no undefined: groups that are not set are null there. */
function plain(match: readonly (string | undefined)[] | null): (string | null)[] | null {
  return match && Array.from(match, (group) => group ?? null);
}

for (const file of ['configurations.json', 'constructs.json']) {
  t.test(`matches and captures are PCRE's: ${file}`, async (t) => {
    for (const [caseless, pattern, results] of load<Case>(file)) {
      const regex = compileRegex(pattern, { caseless });
      const parsed = parseRegex(pattern, caseless);
      const matcher = new Matcher(parsed.root, parsed.captures);
      for (const [subject, expected] of results) {
        const name = JSON.stringify([pattern, subject]);
        t.same(plain(regex.exec(subject, payer())), expected, name);
        t.equal(regex.test(subject, payer()), expected !== null, `test ${name}`);
        t.same(plain(matcher.exec(subject, requestSteps)), expected, `matcher ${name}`);
      }
    }
  });
}

t.test("malformed patterns are refused in nginx's words", async (t) => {
  for (const [pattern, message] of load<[string, string]>('faults.json')) {
    t.throws(() => compileRegex(pattern, { caseless: false }), { message }, pattern);
  }
});

t.test('what is not supported is refused in the same form', async (t) => {
  for (const [pattern, text, rest] of [
    ['a(?R)', 'recursion is not supported', '(?R)'],
    ['(a)(?1)', 'recursion is not supported', '(?1)'],
    ['(?<n>a)\\g<n>', 'recursion is not supported', '\\g<n>'],
    ['a(?C1)b', 'callouts are not supported', '(?C1)b'],
    ['a(*SKIP)b', 'verbs are not supported', '(*SKIP)b'],
    ['(*UTF8)a', 'verbs are not supported', '(*UTF8)a'],
    ['(?*a)b', 'non-atomic assertions are not supported', '(?*a)b'],
  ] as const) {
    const message = `pcre2_compile() failed: ${text} in "${pattern}" at "${rest}"`;
    t.throws(() => compileRegex(pattern, { caseless: false }), { message }, pattern);
  }
  t.throws(() => compileRegex('((((a{1,99}){1,99}){1,99}){1,99})', { caseless: false }), {
    message: /failed: regular expression is too large in/,
  });
  t.throws(() => compileRegex('('.repeat(2000), { caseless: false }), { message: /parentheses are too deeply nested/ });
});

t.test('groups and names', async (t) => {
  const regex = compileRegex('(?<year>\\d+)-(?<day>\\d+)(x)?', { caseless: false });
  t.equal(regex.captures, 3);
  t.same(regex.names, [
    { name: 'day', index: 2 },
    { name: 'year', index: 1 },
  ]);
  t.same(compileRegex('(?J)(?<n>a)|(?<n>b)', { caseless: false }).names, [
    { name: 'n', index: 1 },
    { name: 'n', index: 2 },
  ]);
});

t.test('ordinary patterns run as RegExp', async (t) => {
  for (const [caseless, pattern] of load<Case>('configurations.json')) {
    if (!pattern.includes('(/?)+') && !pattern.includes('}+')) {
      t.ok(emitJs(parseRegex(pattern, caseless).root, false) !== undefined, pattern);
    }
  }
});

t.test('no pattern holds the process up', async (t) => {
  const exec = (pattern: string, subject: string) => {
    const regex = compileRegex(pattern, { caseless: false });
    return { match: plain(regex.exec(subject, payer())), error: regex.error };
  };
  const many = 'a'.repeat(8190);
  t.same(exec('^(a+)+$', `${many}!`), { match: null, error: 0 });
  t.same(exec('^/(a+)+$', `/${many}!`), { match: null, error: 0 });
  t.same(exec('^/w/(.*a){25}$', `/w/${many.slice(2)}`).match?.[1]?.length, 1);
  t.same(exec('^/w/(.*a){25}$', `/w/${many.slice(3)}!`), { match: null, error: -47 }, 'as in PCRE');
  t.same(exec('(x+x+)+y', 'x'.repeat(8000)), { match: null, error: 0 });
  t.same(exec('^(([a-z])+.)+[A-Z]([a-z])+$', many), { match: null, error: 0 });
  t.same(exec('(a|a?)+$', `${many}b`), { match: ['', ''], error: 0 });
  t.same(exec('(?:a*)*b', many), { match: null, error: 0 });
  t.same(exec('^/(.+)/(.+)/(.+)\\.php$', '/'.repeat(8192)), { match: null, error: 0 });
  t.same(exec('(?!.*b)a!', `${many}b`), { match: null, error: 0 });
  t.same(exec('(?>a*)b', many), { match: null, error: 0 });
  t.same(exec('.*\\.php$', many), { match: null, error: 0 });
  const [whole, first] = exec('^(.*)/(.*)/(.*)x$', `${'/a'.repeat(4000)}x`).match!;
  t.equal(whole!.length, 8001);
  t.equal(first!.length, 7996);
});

t.test("a match limit like PCRE's ends what cannot be bounded", async (t) => {
  const regex = compileRegex('^(a+)+\\1$', { caseless: false });
  const subject = `${'a'.repeat(60)}!`;
  t.equal(regex.exec(subject, payer()), null);
  t.equal(regex.error, -47);
  t.equal(matchFailure(regex, subject), `pcre2_match() failed: -47 on "${subject}" using "^(a+)+\\1$"`);
  t.notOk(regex.test(subject, payer()));
  t.equal(regex.error, -47);
  t.same(plain(regex.exec('aaaa', payer())), ['aaaa', 'a']);
  t.equal(regex.error, 0, 'the next call starts afresh');
});

t.test('all matches of a request draw on the same steps', async (t) => {
  const subject = `${'a'.repeat(8190)}!`;
  const one = payer();
  let matches = 0;
  for (; matches < 100; matches++) {
    const regex = compileRegex('^(a+)+$', { caseless: false });
    regex.exec(subject, one);
    if (regex.error !== 0) {
      break;
    }
  }
  t.ok(matches >= 2 && matches < 20, `${matches} matches`);
  t.equal(one.matchSteps, 0);
  const short = compileRegex('^/(a+)+\\.html$', { caseless: false });
  t.ok(short.test('/aaaaaaaa.html', one), 'what takes few steps is still found');
  t.ok(compileRegex('\\.(?:jpg|png)$', { caseless: false }).test(`${subject}.png`, one), 'and so is what grows no faster than its subject');
});

t.test('quadratic patterns are paid for too', async (t) => {
  const subject = '/uploads/'.repeat(150);
  const regex = compileRegex('/uploads/.*\\.php$', { caseless: false });
  const one = payer();
  regex.exec(subject, one);
  const price = requestSteps - one.matchSteps;
  t.ok(price > 1000 && price <= 100_000, String(price));
  while (one.matchSteps > 0) {
    t.equal(regex.exec(subject, one), null);
  }
  t.equal(regex.exec(subject, one), null);
  t.equal(regex.error, 0, 'the matcher goes on where RegExp is too dear');
  const free = payer();
  regex.exec('/uploads/2024/01/picture.jpg', free);
  t.equal(free.matchSteps, requestSteps, 'subjects of usual length are free');
});
