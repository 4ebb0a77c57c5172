import t from 'tap';
import { sharedIn } from '../../../src/worker/js/transform.js';

const names = (source: string, typed = false): string =>
  sharedIn(source, typed)
    .map(({ name }) => name)
    .join();

t.test('variables at the top that a function assigns', async (t) => {
  const count = sharedIn(
    "let other = 1,\n  count = 0;\nfunction f(r) {\n  count++;\n  r.return(200, '');\n}\nexport default { f };\n",
    false,
  );
  t.strictSame(count, [{ name: 'count', line: 2, assignedAt: 4 }]);
  t.equal(names('var a; export default (r) => { a = r.uri; };'), 'a');
  t.equal(names('let a = function () {}, b; const f = async () => { b ??= 1; };'), 'b');
  t.equal(names('let a = 0; class C { m() { --a; } static n() { return (a >>>= 1); } }'), 'a');
  t.equal(names('let a = [], b; function f() { const g = () => { if (x) { for (;;) a += 1; } }; b = a; }'), 'a,b');
  t.equal(names('let a: number = 0; export function f(x: { a: string }): void { a = x.a.length; }', true), 'a');
  t.equal(names('var a; module.exports = { f(r) { a = 1; } };'), 'a', 'CommonJS');
});

t.test('what is left alone', async (t) => {
  for (const source of [
    'let a = 0; a = 1; if (a) { a++; } export default { f() { return a; } };',
    'const a = {}; function f() { a.b = 1; }',
    'let a; function f(a) { a = 1; } function g() { let a; a = 1; } function h() { { var a; } a = 2; }',
    'let a; function f() { for (const b of []) { let a = b; a = 1; } try {} catch (a) { a = 1; } }',
    'let a; const f = (a) => (a = 1), g = ({ a }) => { a++; }, h = ([a, ...b]) => { a++; b = a; };',
    'let a; function f(o) { o.a = 1; o = { a: 1 }; return a === 1 || a >= 2 || a == 3; }',
    'let a; function f() { var b = 0; b++\na }',
    'let a; function f() { return "a = 1" + `a = ${a}` + /a = 1/; /* a = 1 */ }',
    'function f() { f = 1; }',
    'import a from "a.js"; function f() { return a; }',
  ]) {
    t.equal(names(source), '', source);
  }
});

t.test('a block has names of its own, and those around it go on', async (t) => {
  t.equal(names('let a; function f() { { let a; a = 1; } a = 2; }'), 'a');
  t.equal(names('let a; function f() { function g(a) { a = 1; } a = 2; }'), 'a');
});

t.test('the work grows with the text', async (t) => {
  const many = Array.from({ length: 3000 }, (_, i) => `let v${i}; function f${i}(x) { v${i} = x; }`).join('\n');
  t.equal(sharedIn(many, false).length, 3000);
  t.equal(sharedIn(`let a; ${'(() => { '.repeat(200)} a = 1; ${'})();'.repeat(200)}`, false).length, 1);
});

t.test('what is no JavaScript', async (t) => {
  t.throws(() => sharedIn('let a = ;', false));
});
