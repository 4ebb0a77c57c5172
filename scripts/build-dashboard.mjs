// Makes the dashboard's page: dashboard/ with the chart library, as one file without anything from elsewhere.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build, transform } from 'esbuild';

/** Writes the page to a file. */
export async function buildDashboard(root, file) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['dashboard/main.ts'],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    write: false,
    legalComments: 'inline',
    logLevel: 'warning',
    tsconfig: 'dashboard/tsconfig.json',
  });
  const library = readFileSync(join(dirname(createRequire(import.meta.url).resolve('uplot')), 'uPlot.min.css'), 'utf8');
  const own = readFileSync(join(root, 'dashboard/style.css'), 'utf8');
  const { code } = await transform(`${library}\n${own}`, { loader: 'css', minify: true });
  // A closing tag in a text would end the element.
  const script = outputFiles[0].text.replaceAll('</', '<\\/').trim();
  const page = readFileSync(join(root, 'dashboard/index.html'), 'utf8')
    .replace('/*STYLE*/', () => code.trim())
    .replace('/*SCRIPT*/', () => script);
  writeFileSync(file, page);
}
