import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { globFiles, hasGlobChars } from '../../../src/shared/config/glob.js';

const dir = `${t.testdir({
  'a.conf': '',
  'b.conf': '',
  'B.conf': '',
  '.hidden.conf': '',
  '[x].conf': '',
  'a*': '',
  '10-z': '',
  '9-z': '',
  sub: { 'x.conf': '', 'y.conf': '', deep: { 'x.conf': '' } },
  'sub-b': { 'x.conf': '' },
  '.dot': { 'x.conf': '' },
  empty: {},
})}/`;
symlinkSync('nowhere', `${dir}dangling.conf`);
symlinkSync('sub', `${dir}link`);
writeFileSync(Buffer.from(`${dir}\xff.conf`, 'latin1'), '');
mkdirSync(Buffer.from(`${dir}\xe9`, 'latin1'));
writeFileSync(Buffer.from(`${dir}\xe9/x.conf`, 'latin1'), '');

// As glob(3) of glibc answers in the C locale.
const cases: [string, string[]][] = [
  ['*.conf', ['B.conf', '[x].conf', 'a.conf', 'b.conf', 'dangling.conf', '\xff.conf']],
  ['?.conf', ['B.conf', 'a.conf', 'b.conf', '\xff.conf']],
  ['[ab].conf', ['a.conf', 'b.conf']],
  ['[a-b].conf', ['a.conf', 'b.conf']],
  ['[b-a].conf', []],
  ['[!a].conf', ['B.conf', 'b.conf', '\xff.conf']],
  ['[^a-z].conf', ['B.conf', '\xff.conf']],
  ['[[:upper:]].conf', ['B.conf']],
  ['[[:alpha:][:digit:]].conf', ['B.conf', 'a.conf', 'b.conf']],
  ['[[:nonsense:]a].conf', []],
  ['[[=a=]].conf', ['a.conf']],
  ['[[.a.]-b].conf', ['a.conf', 'b.conf']],
  ['[]x[]*', ['[x].conf']],
  ['[[]x[]].conf', ['[x].conf']],
  ['\\[x].co*', ['[x].conf']],
  ['\\[x].conf', ['[x].conf']],
  ['a\\*', ['a*']],
  ['a[*]', ['a*']],
  ['[x.conf', []],
  ['*-z', ['10-z', '9-z']],
  ['.*.conf', ['.hidden.conf']],
  ['[.]hidden.conf', []],
  ['.h*', ['.hidden.conf']],
  ['.d*/*', ['.dot/x.conf']],
  ['.?', ['..']],
  ['sub/[xy].conf', ['sub/x.conf', 'sub/y.conf']],
  ['*/x.conf', ['link/x.conf', 'sub-b/x.conf', 'sub/x.conf', '\xe9/x.conf']],
  ['s*b/*/x.conf', ['sub/deep/x.conf']],
  ['*/none', []],
  ['none/*', []],
  ['empty/*', []],
  ['a.conf/*', []],
  ['s*/', ['sub-b/', 'sub/']],
  ['{a,b}.con?', []],
];

for (const [pattern, names] of cases) {
  t.same(
    globFiles(dir + pattern),
    names.map((name) => dir + name),
    pattern,
  );
}

t.same(globFiles('/pro[c]'), ['/proc'], 'from the root');

t.ok(hasGlobChars('/etc/*.conf'));
t.ok(hasGlobChars('/etc/?'));
t.ok(hasGlobChars('/etc/[ab'));
t.notOk(hasGlobChars('/etc/a{b}]~.conf'));
