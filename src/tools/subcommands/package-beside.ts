import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** A package of the user's own, as the folders of the modules `files`, or `folder`, find it; undefined where none does. */
export function packageBeside(name: string, files: readonly string[], folder: string): unknown {
  for (const place of new Set([...files.map((file) => `${dirname(file)}/`), folder])) {
    try {
      return createRequire(`${place}x.js`)(name);
    } catch {
      // Perhaps the next folder has it.
    }
  }
  return undefined;
}
