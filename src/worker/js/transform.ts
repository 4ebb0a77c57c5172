// The only file that imports sucrase; the build makes it a file of its own with the package in it.
import { transform } from 'sucrase';

/** Makes a script of an ES module, and takes types off. Lines stay where they are, so that stack traces fit. */
export function toScript(source: string, file: string): string {
  return transform(source, {
    transforms: ['imports', 'typescript'],
    filePath: file,
    preserveDynamicImport: true,
    disableESTransforms: true,
  }).code;
}
