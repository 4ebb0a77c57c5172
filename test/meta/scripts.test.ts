import { existsSync, readFileSync } from 'node:fs';
import { build } from 'esbuild';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

t.test('the compiler checks all scripts', async (t) => {
  const unchecked = filesBelow('scripts', '.mjs').filter((file) => readFileSync(`${root}scripts/${file}`, 'utf8').includes('@ts-nocheck'));
  t.strictSame(unchecked, []);
});

// No test runs all of them.
t.test('what a script imports from another is there', async (t) => {
  const scripts = filesBelow('scripts', '.mjs');
  t.ok(scripts.length > 20);
  const entryPoints = scripts.map((file) => `${root}scripts/${file}`);
  const { errors } = await build({
    entryPoints,
    bundle: true,
    write: false,
    outdir: '/',
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  }).catch((failed) => failed);
  t.strictSame(
    errors.map(({ text }: { text: string }) => text),
    [],
  );
});

// Scripts that measure parts of the server bundle them from a text of such lines, which no compiler sees.
t.test('what a script takes of the sources is there', async (t) => {
  let lines = 0;
  for (const file of filesBelow('scripts', '.mjs')) {
    const text = readFileSync(`${root}scripts/${file}`, 'utf8');
    for (const [line, names, from] of text.matchAll(/export \{ ([^}]+) \} from '\.\/((?:src\/)?[^']+\/[^']+)\.js'/g)) {
      lines++;
      const path = `${root}src/${from!.replace(/^src\//, '')}.ts`;
      const source = existsSync(path) ? readFileSync(path, 'utf8') : '';
      for (const name of names!.split(', ')) {
        t.match(source, new RegExp(`^export (abstract |async )*(class|function|const|let|enum) ${name}\\b`, 'm'), `${file}: ${line}`);
      }
    }
  }
  t.ok(lines > 40);
});
