import { existsSync, readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { root } from './source-files.js';

const read = (path: string): string => readFileSync(root + path, 'utf8');

t.test('what names a version of Node agrees', async (t) => {
  const { version } = JSON.parse(read('scripts/node/package.json'));
  t.equal(read('.nvmrc').trim(), version.split('.')[0], '.nvmrc');
  const oldest = JSON.parse(read('package.json')).engines.node.replace('>=', '');
  t.match(read('README.md'), `sluice needs Node ${oldest} or later`);
});

t.test('the changes of the version to come are one list', async (t) => {
  const headings = read('CHANGELOG.md').match(/^## .*$/gm)!;
  const { version } = JSON.parse(read('package.json'));
  t.equal(headings[0], `## sluice ${version}, not yet released`);
  t.equal(headings.filter((heading) => /not yet released|since/i.test(heading)).length, 1);
});

t.test('a checkout has what hosts and editors look for', async (t) => {
  for (const path of ['SECURITY.md', 'CONTRIBUTING.md', 'LICENSE', '.editorconfig']) {
    t.ok(existsSync(root + path), path);
  }
  // Names that nobody answers to (RFC 2606) would be stand-ins for a host that is not known yet.
  t.notMatch(read('package.json'), /\.(example|invalid|test)\b|\bexample\.(com|net|org)\b/);
});

t.test('npm has nothing to warn of: no package runs a script, and that is decided for each that has one', async (t) => {
  const { allowScripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { allowScripts: Record<string, boolean> };
  const folders = readdirSync(`${root}node_modules`).flatMap((name) =>
    name.startsWith('@') ? readdirSync(`${root}node_modules/${name}`).map((each) => `${name}/${each}`) : [name],
  );
  const withScripts = folders.filter((name) => {
    const file = `${root}node_modules/${name}/package.json`;
    if (name.startsWith('.') || !existsSync(file)) {
      return false;
    }
    const { scripts = {} } = JSON.parse(readFileSync(file, 'utf8')) as { scripts?: Record<string, string> };
    // npm takes binding.gyp for a script that compiles.
    return (
      'preinstall' in scripts || 'install' in scripts || 'postinstall' in scripts || existsSync(`${root}node_modules/${name}/binding.gyp`)
    );
  });
  t.ok(withScripts.includes('better-sqlite3'));
  t.strictSame(
    withScripts.filter((name) => allowScripts[name] !== false),
    [],
  );
});
