// Bundles the server into dist/. One file for each kind of process keeps start-up short: Node resolves and
// compiles two files instead of some hundred. Packages from node_modules stay outside the bundle, but for the parts of winston that are used:
// as one file they load in half the time.
// SLUICE_DIST: another output folder.
import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
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
  define: { SLUICE_VERSION: JSON.stringify(version), WINSTON_PARTS: '"./winston-parts.cjs"' },
  banner: { js: '' },
  logLevel: 'warning',
});
// winston-transport is found from winston, whose dependency it is.
const winston = createRequire(import.meta.url).resolve('winston');
await build({
  stdin: {
    contents: "exports.createLogger = require('winston/lib/winston/create-logger'); exports.Base = require('winston-transport');",
    resolveDir: dirname(winston),
  },
  outfile: `${outdir}/winston-parts.cjs`,
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node20',
  legalComments: 'inline',
  logLevel: 'warning',
});
