// Puts the figures of docs/performance.json into README.md and docs/performance.md, makes docs/request-fields.md, and makes the pages of
// docs/reference from the modules: which directives and variables there are comes from their tables, what they mean from the file
// reference.md beside each table. `npm run docs`; with --check it writes nothing, prints what is wrong and exits with 1.
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
import { fullTable, shortTable } from './bench/tables.mjs';
import { makePages } from './reference/pages.mjs';
import { readTexts } from './reference/texts.mjs';
import { fieldsPage } from './request-fields.mjs';

const root = new URL('..', import.meta.url).pathname;
const check = process.argv.includes('--check');

const server = await loadServer();
const texts = readTexts(`${root}src/worker/`, server.modules);
const { pages, problems } = makePages(server, texts, directivesOfNginx());

/** @type {import('./bench/tables.mjs').Recording} */
const recording = JSON.parse(readFileSync(`${root}docs/performance.json`, 'utf8'));
const figures = [withFigures('README.md', shortTable(recording)), withFigures('docs/performance.md', fullTable(recording))];

const [fieldsFile, fields] = fieldsPage();

const folder = `${root}docs/reference/`;
if (check) {
  if (!existsSync(root + fieldsFile) || readFileSync(root + fieldsFile, 'utf8') !== fields) {
    problems.push(`${fieldsFile}: npm run docs makes it anew`);
  }
  for (const { page, before, after } of figures) {
    if (after !== before) {
      problems.push(`${page} has other figures than docs/performance.json: npm run docs puts them in`);
    }
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
  for (const { page, after } of figures) {
    writeFileSync(root + page, after);
  }
  writeFileSync(root + fieldsFile, fields);
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

/**
 * A page with a table between its two marks.
 * @param {string} page its path below the root
 * @param {string} table
 */
function withFigures(page, table) {
  const before = readFileSync(root + page, 'utf8');
  const marks = /(<!-- figures -->\n)[\s\S]*?(<!-- end of figures -->)/;
  if (!marks.test(before)) {
    problems.push(`${page} has no marks for its figures`);
  }
  return { page, before, after: before.replace(marks, (_all, open, close) => open + table + close) };
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
export { differenceOf } from './src/tools/migration/differences.js';`,
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
