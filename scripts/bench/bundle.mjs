// Makes parts of the sources loadable by a benchmark.
import { rmSync } from 'node:fs';
import { build } from 'esbuild';

const root = new URL('../../', import.meta.url).pathname;

/**
 * Bundles what `exports` (lines of `export ... from './...'`, paths from src/) names into a module, and returns its path. The file lies
 * where packages are found from and git does not look; it goes with this process.
 */
export async function bundleSources(name, exports) {
  const outfile = `${root}node_modules/.cache/sluice-${name}-${process.pid}.mjs`;
  process.once('exit', () => rmSync(outfile, { force: true }));
  await build({
    stdin: { contents: exports, resolveDir: `${root}src/`, loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    define: { SLUICE_VERSION: '"0"' },
    logLevel: 'warning',
  });
  return outfile;
}
