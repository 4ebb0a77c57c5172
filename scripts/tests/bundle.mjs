// Bundles tests with what they import of test/ and src/, each into one script in node_modules/.cache/tests, and tap into one that all of
// them share: a test then loads two or three files, and none of them has types to be taken out. `load.mjs` gives them to Node in place
// of the TypeScript. Without arguments it bundles all tests; scripts/test does that before it starts the first.
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { bundleOf, cache, isFresh, root, tapBundle } from './fresh.mjs';

const tapSource = 'node_modules/@tapjs/test/test-built/dist/esm/index.js';
const domainSource = 'scripts/tests/domain.mjs';

/**
 * Each file's own address, which a bundle would replace by its own.
 * @type {import('esbuild').Plugin}
 */
const ownAddresses = {
  name: 'own addresses',
  setup(setup) {
    setup.onLoad({ filter: /\.(ts|js|mjs)$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.')) {
        return undefined;
      }
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.filename', JSON.stringify(path))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

/** @type {import('esbuild').Plugin} */
const oneTap = {
  name: 'one tap',
  setup(setup) {
    setup.onResolve({ filter: /^tap$/ }, () => ({ path: pathToFileURL(tapBundle).href, external: true }));
  },
};

/** @type {import('esbuild').Plugin} */
const lightDomain = {
  name: 'light domain',
  setup(setup) {
    setup.onResolve({ filter: /^async-hook-domain$/ }, () => ({ path: root + domainSource }));
  },
};

/** @type {import('esbuild').BuildOptions & { write: false, metafile: true }} */
const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  sourcemap: true,
  sourcesContent: false,
  keepNames: true,
  logLevel: 'warning',
  write: false,
  metafile: true,
};

/**
 * Writes a whole file at once: another process may be reading it, or making the same.
 * @param {string} path
 * @param {string} text
 */
function replaceFile(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

/**
 * Lists what a bundle and the parts that it shares with others were made of.
 * @param {import('esbuild').Metafile} metafile
 * @param {string} output
 * @param {Set<string>} outputs those seen before
 * @returns {string[]}
 */
function inputsOf(metafile, output, outputs = new Set()) {
  const made = metafile.outputs[output];
  if (made === undefined || outputs.has(output)) {
    return [];
  }
  outputs.add(output);
  return [...Object.keys(made.inputs), ...made.imports.flatMap(({ path }) => inputsOf(metafile, path, outputs))];
}

/**
 * Writes what esbuild made, and beside each bundle what it was made of.
 * @param {import('esbuild').BuildResult<typeof common>} result
 * @param {number} started
 * @param {(output: string) => string[]} list
 */
function writeBundles({ outputFiles, metafile }, started, list) {
  for (const { path, text } of outputFiles) {
    // Node takes a test's bundle for the test, and looks for the map from there.
    const place = dirname(path).replace(cache, path.startsWith(`${cache}shared/`) ? cache : root);
    const withMap = () => text.replace(/(\/\/# sourceMappingURL=).*\n?$/, (_, before) => `${before}${relative(place, path)}.map\n`);
    replaceFile(path, path.endsWith('.map') ? text : withMap());
  }
  for (const [output, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (entryPoint !== undefined) {
      replaceFile(`${root}${output}.json`, JSON.stringify({ started, inputs: [...list(output), 'scripts/tests/bundle.mjs'] }));
    }
  }
}

async function bundleTap() {
  const started = Date.now();
  const result = await build({
    ...common,
    stdin: { contents: "export * from 'tap'; export { default } from 'tap';", resolveDir: root },
    outfile: tapBundle,
    keepNames: false,
    // No stack shows lines of it, and each test would read the map.
    sourcemap: false,
    minifyWhitespace: true,
    // Some of its packages are CommonJS.
    banner: { js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);" },
    plugins: [lightDomain, ownAddresses],
  });
  // What tap is made of changes with the lock file, or with the plugins that .taprc names.
  writeBundles(result, started, () => ['package-lock.json', tapSource, domainSource]);
}

/**
 * Bundles tests, unless all of their bundles are fresh. Bundles made together share what they have in common.
 * @param {readonly string[]} files paths below the root
 */
export async function bundleTests(files) {
  if (!isFresh(tapBundle)) {
    await bundleTap();
  }
  if (files.every((file) => isFresh(bundleOf(file)))) {
    return;
  }
  const started = Date.now();
  const result = await build({
    ...common,
    entryPoints: [...files],
    outbase: root,
    outdir: cache,
    outExtension: { '.js': '.mjs' },
    splitting: files.length > 1,
    chunkNames: 'shared/[name]-[hash]',
    packages: 'external',
    plugins: [oneTap, ownAddresses],
  });
  writeBundles(result, started, (output) => inputsOf(result.metafile, output));
}

/** Removes bundles that no test uses any more, or that were shared by those of another day. */
function removeOld() {
  for (const file of globSync('{test,shared}/**/*.{mjs,map,json}', { cwd: cache })) {
    if (statSync(cache + file).mtimeMs < Date.now() - 86_400_000) {
      rmSync(cache + file);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  removeOld();
  await bundleTests(globSync('test/**/*.test.ts', { cwd: root }));
}
