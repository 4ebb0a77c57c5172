import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';

/**
 * Loads a bundle, which the build made into one function with CommonJS's parameters, together with V8's code for it (the file `.cache`
 * beside it). Another version of V8, or one with other flags, refuses that code and compiles the bundle instead.
 */
export function loadCompiled<T>(file: string): T {
  const module = { exports: {} as T };
  compileBundle(file, cacheOf(file)).runInThisContext()(module.exports, createRequire(file), module, file);
  return module.exports;
}

function compileBundle(file: string, cachedData: Buffer | undefined): Script {
  // The bundles are ASCII.
  return new Script(readFileSync(file, 'latin1'), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
}

function cacheOf(file: string): Buffer | undefined {
  try {
    return readFileSync(`${file}.cache`);
  } catch {
    return undefined;
  }
}
