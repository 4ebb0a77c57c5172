// Makes the single executable of a build: `node scripts/executable/make.mjs WORK FILE`, where WORK/dist is the build. Node embeds what it
// runs first (src/master/executable) and two assets: the files that this finds its packages in, one after the other, and their index.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { runtimePackages } from '../../packaging/runtime-packages.mjs';
import { NO_DEBUGGER } from '../no-debugger.mjs';
import { withContents } from './elf-note.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [work, target] = /** @type {[string, string]} */ (process.argv.slice(2));
const about = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const platform = `${process.platform}-${process.arch}`;
/** Node's own build of glibc is what the executable holds, so that the binaries for musl stay behind. */
const NATIVE = [`./prebuilds/${platform}.node`, `./${platform.replace('-', '_')}/koffi.node`];
const SKIPPED = new Set(['node_modules', 'test', 'tests', 'examples', 'doc', 'docs', 'deps']);
const CODE = /\.(?:[cm]?js|json)$|^\.\/licen[cs]e/i;

const files = new Map();
const put = (path, bytes) => files.set(path, bytes);

/** Puts those files of a folder whose path in it is wanted. */
function putFolder(folder, as, wanted, skipped = SKIPPED, below = '.') {
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = `${below}/${entry.name}`;
    if (entry.isDirectory() && !skipped.has(entry.name)) {
      putFolder(folder, as, wanted, skipped, path);
    } else if (entry.isFile() && wanted(path)) {
      put(`${as}${path.slice(1)}`, readFileSync(join(folder, path)));
    }
  }
}

putFolder(`${work}/dist`, 'dist', (path) => !/\.map$|code-cache\.version$/.test(path), new Set());
putFolder(`${root}types`, 'types', () => true);
putFolder(`${root}conf`, 'conf', () => true);
const { name, version, license, type } = about;
put('package.json', Buffer.from(JSON.stringify({ name, version, license, type, private: true })));
put('LICENSE', readFileSync(`${root}LICENSE`));
for (const { folder, bundle } of runtimePackages()) {
  if (bundle === undefined) {
    putFolder(`${root}${folder}`, folder, (path) => CODE.test(path) || NATIVE.includes(path));
  }
}
// Node's licence, and those of what is in Node, of the packages and of what is bundled.
const ofNode = `${dirname(dirname(process.execPath))}/LICENSE`;
put('LICENSES', Buffer.concat([execFileSync(process.execPath, [`${root}packaging/deb/copyright.mjs`]), readFileSync(ofNode)]));
for (const native of ['better-sqlite3', 'koffi']) {
  if (![...files.keys()].some((path) => path.endsWith('.node') && path.includes(native))) {
    throw new Error(`there is no binary of ${native} for ${platform}: run npm ci`);
  }
}

let offset = 0;
const index = [...files].map(([path, bytes]) => {
  const file = { path, offset, length: bytes.length, digest: createHash('sha256').update(bytes).digest('hex') };
  offset += bytes.length;
  return file;
});
const digest = createHash('sha256').update(JSON.stringify(index)).digest('hex');
writeFileSync(`${work}/index`, JSON.stringify({ name: `${version}-${digest.slice(0, 16)}`, files: index }));
writeFileSync(`${work}/files`, Buffer.concat([...files.values()]));

await build({
  absWorkingDir: root,
  entryPoints: ['src/master/executable/main.ts'],
  outfile: `${work}/main.js`,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node22',
  minify: true,
});
const config = {
  main: `${work}/main.js`,
  output: `${work}/blob`,
  disableExperimentalSEAWarning: true,
  // What dist/sluice.js and the master give their own Nodes; NODE_OPTIONS counts as it does there.
  execArgv: [NO_DEBUGGER, '--v8-pool-size=1'],
  assets: { index: `${work}/index`, files: `${work}/files` },
};
writeFileSync(`${work}/sea.json`, JSON.stringify(config));
execFileSync(process.execPath, ['--experimental-sea-config', `${work}/sea.json`], { stdio: ['ignore', 'ignore', 'inherit'] });
copyFileSync(process.execPath, `${work}/node`);
chmodSync(`${work}/node`, 0o755);
try {
  execFileSync('strip', [`${work}/node`], { stdio: 'ignore' });
} catch {
  // It is larger, then.
}
const made = withContents(readFileSync(`${work}/node`), readFileSync(`${work}/blob`));
// Beside the file first: one that runs stays as it is until the new one is whole.
const fresh = `${target}.${process.pid}`;
mkdirSync(dirname(target), { recursive: true });
try {
  writeFileSync(fresh, made);
  chmodSync(fresh, 0o755);
  renameSync(fresh, target);
} finally {
  rmSync(fresh, { force: true });
}
console.log(
  `${target}: ${Math.round(made.length / 2 ** 20)} MB, with Node ${process.version} and ${index.length} files of ${Math.round(offset / 2 ** 20)} MB`,
);
