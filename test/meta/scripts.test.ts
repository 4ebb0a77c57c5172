import { readFileSync } from 'node:fs';
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
