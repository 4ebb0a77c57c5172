// Prints the folders of the packages that the built server loads, one a line, relative to the project's root: the dependencies of
// package.json and theirs, optional ones if they are installed, less what is for installing only and what the build puts into dist/.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** better-sqlite3 could be compiled with this; its binary comes with it. */
const INSTALL_ONLY = ['node-addon-api'];
/** Left out of packages, 18 MB for what few configurations ask for; npm installs it along with the server. */
const NOT_BROUGHT = ['sharp'];
/** Packages of which all that is used is in a file of dist/ (scripts/build.mjs). */
const BUNDLED = new Map([['hash-wasm', 'dist/hash-thread.js']]);

const read = (folder) => JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));

function resolve(name, from, optional) {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = `${folder}/node_modules/${name}`;
    if (existsSync(`${found}/package.json`)) return found;
    if (folder !== dirname(folder)) continue;
    if (optional) return undefined;
    throw new Error(`${name} is not installed`);
  }
}

/** Every package that is in the server or that it loads: its folder, what it says of itself, and the file of dist/ that it is in, if it is. */
export function runtimePackages() {
  const folders = new Set();
  const visit = (folder) => {
    const { dependencies, optionalDependencies: optional = {} } = read(folder);
    for (const name of Object.keys({ ...dependencies, ...optional })) {
      if (INSTALL_ONLY.includes(name) || NOT_BROUGHT.includes(name)) continue;
      const found = resolve(name, folder, name in optional);
      if (found === undefined || folders.has(found)) continue;
      folders.add(found);
      visit(found);
    }
  };
  visit(root.replace(/\/$/, ''));
  return [...folders].sort().map((folder) => {
    const about = read(folder);
    return { ...about, folder: relative(root, folder), bundle: BUNDLED.get(about.name) };
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { folder, bundle } of runtimePackages()) if (bundle === undefined) console.log(folder);
}
