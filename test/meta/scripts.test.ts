import { build } from 'esbuild';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

// No compiler reads the scripts, and no test runs them all.
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
