// Bundles the server into dist/. One file for each kind of process keeps start-up short: Node resolves and
// compiles two files instead of some hundred. Packages from node_modules stay outside the bundle.
// SLUICE_DIST: another output folder.
import { readFileSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const root = new URL('..', import.meta.url).pathname;
const outdir = process.env.SLUICE_DIST ?? `${root}dist`;

rmSync(outdir, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: { sluice: 'src/master/main.ts', worker: 'src/worker/main.ts', 'hash-thread': 'src/shared/lib/password/hash-thread.ts' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: true,
  define: { SLUICE_VERSION: JSON.stringify(version) },
  banner: { js: '' },
  logLevel: 'warning',
});
