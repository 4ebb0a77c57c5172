import { readFileSync } from 'node:fs';
import t from 'tap';
import { filesBelow, type Import, imports, root } from './source-files.js';

const all = imports();
const within = all.filter(({ to }) => /^(shared|master|worker)\//.test(to));
const packages = all.filter(({ to }) => !/^(shared|master|worker)\//.test(to));
const show = ({ from, to }: Import): string => `${from} -> ${to}`;
const top = (file: string): string => file.slice(0, file.indexOf('/'));
/** The part of the worker a file belongs to: a folder, or '' for what puts the folders together. */
const part = (file: string): string => /^worker\/([^/]+)\//.exec(file)?.[1] ?? '';
const moduleOf = (file: string): string | undefined => /^worker\/modules\/([^/]+)\//.exec(file)?.[1];

/** The folders below worker/ that serve modules and know none. */
const ENGINE = ['http', 'phases', 'body', 'upstream', 'cache', 'tls', 'resolver'];
/** The files that put the program together, and the only edges over which they reach what they put together. */
const COMPOSITION = [
  'master/cache-command.ts -> worker/cache/shell.ts',
  'master/migrate-command.ts -> worker/migration/report.ts',
  'master/migrate-command.ts -> worker/migration/survey.ts',
  'master/parts.ts -> worker/configuration.ts',
  'master/parts.ts -> worker/serve.ts',
];
/** Files of the worker that may import modules. */
const KNOW_MODULES = ['worker/configuration.ts', 'worker/language.ts', 'worker/modules/index.ts', 'worker/runtime.ts', 'worker/serve.ts'];
/** The files of worker/ that the engine may use at run time; of the others it may know types. */
const BASE = ['worker/module.ts'];
/** What breaks a rule for a reason that stands in the file. */
const EXCEPTIONS = [
  // The cache's own processes read the configuration as workers do.
  'worker/cache/helper.ts -> worker/language.ts',
];

t.test('the imports are found', async (t) => {
  t.ok(within.length > 1000);
  t.ok(within.some(({ from, to }) => from === 'worker/modules/proxy/index.ts' && to === 'worker/module.ts'));
});

t.test('every imported file exists', async (t) => {
  const files = new Set(filesBelow('src', '.ts'));
  t.strictSame(within.filter(({ to }) => !files.has(to)).map(show), []);
});

t.test('shared imports nothing else, master and worker import shared', async (t) => {
  const foreign = within.filter(({ from, to }) => top(from) !== top(to) && top(to) !== 'shared').map(show);
  t.strictSame(foreign.sort(), COMPOSITION);
});

t.test('no module imports another', async (t) => {
  const between = within.filter(({ from, to }) => {
    const [a, b] = [moduleOf(from), moduleOf(to)];
    return a !== undefined && b !== undefined && a !== b;
  });
  t.strictSame(between.map(show), []);
});

t.test('the engine imports no module', async (t) => {
  const wrong = within.filter(({ from, to, typeOnly }) => {
    if (part(to) === 'modules') return part(from) !== 'modules' && !KNOW_MODULES.includes(from);
    return ENGINE.includes(part(from)) && top(to) === 'worker' && part(to) === '' && !typeOnly && !BASE.includes(to);
  });
  t.strictSame(wrong.map(show), EXCEPTIONS);
});

t.test('every folder of the worker has its place', async (t) => {
  const folders = new Set(
    filesBelow('src/worker', '.ts')
      .map((file) => part(`worker/${file}`))
      .filter((name) => name !== ''),
  );
  t.strictSame([...folders].sort(), [...ENGINE, 'modules', 'migration'].sort());
});

t.test('a package is imported by one file', async (t) => {
  const importers = new Map<string, Set<string>>();
  for (const { from, to } of packages) {
    if (to.startsWith('node:')) continue;
    const name = to === 'winston-transport' ? 'winston' : to;
    importers.set(name, (importers.get(name) ?? new Set()).add(from));
  }
  const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  t.strictSame([...importers.keys()].sort(), Object.keys(dependencies).sort());
  for (const [name, files] of importers) t.equal(files.size, 1, `${name}: ${[...files].join(' ')}`);
  const page = readFileSync(`${root}docs/dependencies.md`, 'utf8');
  for (const [name, files] of importers)
    t.match(page, new RegExp(`^\\| ${name} \\|.*\`src/${[...files][0]}\``, 'm'), `docs/dependencies.md says where ${name} is`);
});

t.test("HTTP is the server's own", async (t) => {
  t.strictSame(packages.filter(({ to }) => /^(node:)?(http|https|http2)$/.test(to)).map(show), []);
});
