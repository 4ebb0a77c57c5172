import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

/** How many scripts the compiler does not check yet (`// @ts-nocheck`); tsconfig.scripts.json has it check the others. */
const MOST_UNCHECKED = 32;

t.test('no further script goes unchecked', async (t) => {
  const unchecked = filesBelow('scripts', '.mjs').filter((file) =>
    /^\/\/ @ts-nocheck/m.test(readFileSync(`${root}scripts/${file}`, 'utf8')),
  );
  t.ok(unchecked.length <= MOST_UNCHECKED, `${unchecked.length}: ${unchecked.join(' ')}`);
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
