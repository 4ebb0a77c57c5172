// Bundles the server into dist/: program.js with everything in it, cache-program.js with what helper processes of caches need, small files
// that start a master, a worker and a helper with them, what an old Node is told, what a thread runs, and what the package exports. One
// file loads faster than some hundred, and CommonJS as one script faster than modules: V8's code for program.js is made here, too
// (code-cache.mjs), so that a start compiles next to nothing. reference.json has the texts of docs/reference for editors. Packages from
// node_modules stay outside the bundles, but for the parts of winston that are used, the scripts of better-sqlite3, and what the thread
// that hashes passwords uses: its script is run as a text, from where no package is found. SLUICE_DIST: another output folder.
// SLUICE_POISON: see poison.mjs. SLUICE_RECEIVE_ONCE: see uring/engine.ts.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';
import { buildDashboard } from './build-dashboard.mjs';
import { FROM_THE_SHELL, NO_DEBUGGER } from './no-debugger.mjs';
import { oldestNode, usableNode } from './node.mjs';
import { POISON_MEMORY, POISONED } from './poison.mjs';
import { referenceOf } from './reference/sections.mjs';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const root = new URL('..', import.meta.url).pathname;
const outdir = process.env.SLUICE_DIST ?? `${root}dist`;
const [oldestMajor, oldestMinor] = oldestNode.split('.');
/** The first statement of the program, for any Node: one that is too old gets no further. */
const REFUSE_OLD_NODE = `{ const [major, minor] = process.versions.node.split('.').map(Number);
if (major < ${oldestMajor} || (major === ${oldestMajor} && minor < ${oldestMinor})) require('./old-node.js'); }`;
/**
 * What Nodes that are too old can read.
 * @satisfies {import('esbuild').BuildOptions}
 */
const FOR_OLD_NODES = { target: 'node14', sourcemap: false };

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node22',
  logLevel: 'warning',
};
/** @type {import('esbuild').BuildOptions} */
const ours = {
  ...common,
  packages: 'external',
  sourcemap: true,
  define: {
    SLUICE_VERSION: JSON.stringify(version),
    NO_DEBUGGER: JSON.stringify(NO_DEBUGGER),
    WINSTON_PARTS: '"winston-parts.js"',
    SQLITE_PARTS: '"sqlite-parts.js"',
    SPOILS: String(POISONED),
    RECEIVES_ONCE: String(process.env.SLUICE_RECEIVE_ONCE === '1'),
    'import.meta.url': 'MODULE_URL',
  },
};
const moduleUrl = `${POISON_MEMORY}const MODULE_URL = require('node:url').pathToFileURL(__filename).href;`;
/** Node defines these as properties with a getter, which V8 calls each time that one is named. */
const known = 'const { performance, process, Buffer } = globalThis;';
/** Makes a script that compiles to one function: see src/shared/system/compiled.ts. */
const wrapped = {
  banner: { js: `(function (exports, require, module, __filename) { ${known} ${moduleUrl}` },
  footer: { js: '})' },
};

rmSync(outdir, { recursive: true, force: true });
await build({
  ...ours,
  ...FOR_OLD_NODES,
  entryPoints: { sluice: 'src/master/main.ts' },
  outdir,
  banner: { js: `${FROM_THE_SHELL}\n${REFUSE_OLD_NODE}\n${moduleUrl}` },
});
await build({
  ...ours,
  ...FOR_OLD_NODES,
  entryPoints: { 'old-node': 'src/master/old-node.ts' },
  outdir,
  define: { ...ours.define, OLDEST_NODE: JSON.stringify(oldestNode) },
  banner: { js: moduleUrl },
});
await build({
  ...ours,
  entryPoints: {
    worker: 'src/worker/main.ts',
    'cache-worker': 'src/worker/cache-process/main.ts',
    'subcommands/yargs-cli': 'src/tools/subcommands/yargs-cli.ts',
    index: 'src/tools/package.ts',
    vite: 'src/tools/programs/vite.ts',
    'js-isolate': 'src/worker/js/handlers/isolate-thread.ts',
  },
  outdir,
  banner: { js: moduleUrl },
});
await build({
  ...ours,
  packages: 'bundle',
  // hash-wasm's other form has all its functions in it.
  mainFields: ['module', 'main'],
  entryPoints: {
    'hash-thread': 'src/worker/password/hash-thread.ts',
    'js-watchdog': 'src/worker/js/handlers/watchdog-thread.ts',
  },
  outdir,
  legalComments: 'inline',
});
await build({
  ...ours,
  packages: 'bundle',
  entryPoints: { 'otel-export': 'src/worker/trace/export-thread.ts' },
  outdir,
  minify: true,
  legalComments: 'inline',
});
await build({
  ...ours,
  packages: 'bundle',
  entryPoints: {
    'lsp-connection': 'src/tools/subcommands/lsp-connection.ts',
    'js-transform': 'src/worker/js/transform.ts',
    'js-xml': 'src/worker/js/xml.ts',
  },
  outdir,
  banner: { js: moduleUrl },
  minify: true,
  legalComments: 'inline',
});
await buildProgram(
  'program',
  `export { run } from './tools/run.js';
export { parts } from './tools/parts.js';
export { Lifecycle } from './worker/lifecycle.js';
export { roles } from './worker/roles.js';`,
  ['./subcommands/yargs-cli.js', './lsp-connection.js'],
);
await buildProgram(
  'cache-program',
  `export { Lifecycle } from './worker/lifecycle.js';
export { roles } from './worker/cache-process/roles.js';`,
);
await buildDashboard(root, `${outdir}/dashboard.html`);
copyFileSync(`${root}src/worker/lookup/geoip-names.txt`, `${outdir}/geoip-names.txt`);
writeFileSync(`${outdir}/reference.json`, JSON.stringify(referenceOf(`${root}docs/reference/`)));
// winston-transport is found from winston, whose dependency it is.
const winston = createRequire(import.meta.url).resolve('winston');
await build({
  ...common,
  ...wrapped,
  stdin: {
    contents: "exports.createLogger = require('winston/lib/winston/create-logger'); exports.Base = require('winston-transport');",
    resolveDir: dirname(winston),
  },
  outfile: `${outdir}/winston-parts.js`,
  minify: true,
  legalComments: 'inline',
});
// The addon stays in the package, and so do the scripts that find it there.
const sqlite = dirname(dirname(createRequire(import.meta.url).resolve('better-sqlite3')));
const sqliteVersion = JSON.parse(readFileSync(`${sqlite}/package.json`, 'utf8')).version;
await build({
  ...common,
  ...wrapped,
  stdin: {
    contents: `exports.version = ${JSON.stringify(sqliteVersion)};
exports.createDatabase = require('./lib/database'); exports.SqliteError = require('./lib/sqlite-error');`,
    resolveDir: sqlite,
  },
  outfile: `${outdir}/sqlite-parts.js`,
  minify: true,
  legalComments: 'inline',
});
writeFileSync(`${outdir}/package.json`, '{ "type": "commonjs" }\n');
// The types of what the package exports.
mkdirSync(`${outdir}/programs`);
for (const [source, target] of [
  ['package', 'index'],
  ['subcommands/serve-text', 'subcommands/serve-text'],
  ...['check', 'language', 'options', 'program', 'serve', 'vite'].map((name) => [`programs/${name}`, `programs/${name}`]),
]) {
  const text = readFileSync(`${root}src/tools/${source}.ts`, 'utf8');
  writeFileSync(`${outdir}/${target}.d.ts`, ts.transpileDeclaration(text, { compilerOptions: { isolatedDeclarations: true } }).outputText);
}
execFileSync(usableNode(), [`${root}scripts/code-cache.mjs`, outdir], { stdio: 'inherit' });

/** Makes a script of what processes run, which exports `contents`; the files of `beside` stay outside. */
async function buildProgram(name, contents, beside = /** @type {string[]} */ ([])) {
  await build({
    ...ours,
    ...wrapped,
    stdin: { contents, resolveDir: `${root}src`, loader: 'ts' },
    outfile: `${outdir}/${name}.js`,
    // Each process has the text in its memory.
    minifyWhitespace: true,
    lineLimit: 160,
    external: beside,
    // A script that is compiled from a cache has no import().
    supported: { 'dynamic-import': false },
  });
}
