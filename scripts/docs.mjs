// Puts the figures of docs/performance.md into README.md, and makes the pages of docs/reference from the modules: which directives and
// variables there are comes from their tables, what they mean from the file reference.md beside each table. `npm run docs`; with --check
// it writes nothing, prints what is wrong and exits with 1.
//
// A reference.md has a title and an introduction, and then a section for each directive or variable:
//
//   ## limit_req
//   Syntax: limit_req zone=name [burst=number] [nodelay | delay=number];
//   Default: -
//   Example: limit_req zone=perip burst=20 nodelay;
//
//   What it does, in some sentences.
//
// `Syntax:` may stand several times. A heading with `FAMILY_` (in src/worker/upstream/directives, src/worker/cache and src/worker/cgi)
// stands for the directives of all protocols to backends that end so. A variable's heading is `## $name`; its section has only text.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { makePages } from './reference/pages.mjs';
import { readTexts } from './reference/texts.mjs';

const root = new URL('..', import.meta.url).pathname;
const check = process.argv.includes('--check');

/** Rows of docs/performance.md that README.md shows, and what they are called there. */
const FIGURES = [
  ['return200', '`return 200`'],
  ['static1k', 'file of 1 KB'],
  ['static64k', '64 KB'],
  ['notmod304', '304'],
  ['gzip10k', 'gzip of 10 KB'],
  ['proxy', 'proxy'],
  ['cachehit', 'cache HIT'],
  ['limits', 'limits'],
  ['jsonlog', 'JSON log'],
  ['tls', 'TLS'],
  ['h2-tls1k', 'HTTP/2 with TLS'],
  ['grpc', 'gRPC'],
];

const server = await loadServer();
const texts = readTexts(`${root}src/worker/`, server.modules);
const { pages, problems } = makePages(server, texts, directivesOfNginx());

const readme = readFileSync(`${root}README.md`, 'utf8');
const filled = withFigures(readme, readFileSync(`${root}docs/performance.md`, 'utf8'));

const folder = `${root}docs/reference/`;
if (check) {
  if (filled !== readme) {
    problems.push('README.md has other figures than docs/performance.md: npm run docs puts them in');
  }
  for (const [file, text] of pages) {
    if (!existsSync(folder + file) || readFileSync(folder + file, 'utf8') !== text) {
      problems.push(`docs/reference/${file}: npm run docs makes it anew`);
    }
  }
  for (const file of readdirSync(folder)) {
    if (!pages.has(file)) {
      problems.push(`docs/reference/${file} is not made of anything`);
    }
  }
} else {
  writeFileSync(`${root}README.md`, filled);
  for (const file of readdirSync(folder)) {
    if (!pages.has(file)) {
      rmSync(folder + file);
    }
  }
  for (const [file, text] of pages) {
    writeFileSync(folder + file, text);
  }
}
for (const problem of problems) {
  console.log(problem);
}
process.exit(problems.length > 0 ? 1 : 0);

/** README.md with the table of some rows of the first table of results, between its two marks. */
function withFigures(page, results) {
  const rows = new Map();
  const table = results.slice(results.indexOf('| Row | Work |')).split('\n\n')[0];
  for (const line of table.split('\n').slice(2)) {
    const [, row, , , uring] = line.split('|').map((cell) => cell.trim());
    rows.set(row.replaceAll('`', ''), uring.replaceAll('*', ''));
  }
  const shown = FIGURES.map(([row, title]) => [title, rows.get(row) ?? problems.push(`docs/performance.md has no row "${row}"`)]);
  const line = (cells) => `| ${cells.join(' | ')} |\n`;
  const made =
    line(shown.map(([title]) => title)) + line(shown.map(() => '---')).replaceAll(' ', '') + line(shown.map(([, ratio]) => ratio));
  return page.replace(/(<!-- performance -->[^|]*)(?:\|.*\n)+/, (_all, before) => before + made);
}

/** The parts of the server that know the directives. */
async function loadServer() {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
  const outfile = join(directory, 'server.mjs');
  try {
    await build({
      stdin: {
        contents: `export { modules } from './src/worker/modules/index.js';
export { contextNames } from './src/shared/config/context.js';
export { parseConfig } from './src/shared/config/language/parser.js';
export { differenceOf } from './src/worker/migration/differences.js';`,
        resolveDir: root,
        loader: 'ts',
      },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      define: { SLUICE_VERSION: '"docs"', WINSTON_PARTS: '""' },
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The names of nginx's own directives. */
function directivesOfNginx() {
  const lines = readFileSync(`${root}test/meta/nginx-directives.tsv`, 'utf8').trimEnd().split('\n');
  return new Set(lines.map((line) => line.split('\t')[0]));
}
