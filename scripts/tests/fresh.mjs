// Where the bundles of tests lie, and which of them are fresh. Each test asks that when it starts, so nothing else is loaded for it.
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const cache = `${root}node_modules/.cache/tests/`;
// Its folder's name tells tap which lines of a stack are tap's own.
export const tapBundle = `${cache}node_modules/@tapjs/tap.mjs`;

/**
 * Returns where the bundle of a test, or of a script that imports what is in TypeScript, lies.
 * @param {string} file its path below the root
 */
export function bundleOf(file) {
  return `${cache}${file.replace(/\.m?[tj]s$/, '')}.mjs`;
}

/**
 * Tells whether a bundle is there and no file that it was made of has changed since.
 * @param {string} bundle
 */
export function isFresh(bundle) {
  try {
    /** @type {{ started: number, inputs: string[] }} */
    const { started, inputs } = JSON.parse(readFileSync(`${bundle}.json`, 'utf8'));
    return inputs.every((input) => statSync(root + input).mtimeMs < started);
  } catch {
    return false;
  }
}
