import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';

/**
 * Loads a bundle, which the build has made one function of CommonJS's parameters, with what V8 made of it then (the file `.cache` beside it). V8 refuses that
 * when it is another version or runs with other flags; then it compiles the bundle as it compiles everything else.
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
