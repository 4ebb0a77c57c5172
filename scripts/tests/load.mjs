// Loaded by tap before each test (`.taprc`): gives Node the test's bundle in place of its TypeScript, and bundles it first if need be. The
// hook answers for itself, so that the one with which tap looks for what was covered does not read each file once more. It serves scripts
// that import TypeScript likewise.
import { readFileSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { bundleOf, cache, isFresh, root, tapBundle } from './fresh.mjs';

const file = process.argv[1];

if (isMainThread && file?.startsWith(root)) {
  const path = file.slice(root.length);
  if (!isFresh(tapBundle) || !isFresh(bundleOf(path))) {
    const { bundleTests } = await import('./bundle.mjs');
    await bundleTests([path]);
  }
  enableCompileCache(`${cache}compiled`);
  const test = pathToFileURL(file).href;
  const bundle = pathToFileURL(bundleOf(path)).href;
  const bundles = pathToFileURL(cache).href;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      // What a bundle shares with others lies beside it.
      if (context.parentURL === test && specifier.startsWith('.')) {
        return { url: new URL(specifier, bundle).href, format: 'module', shortCircuit: true };
      }
      return nextResolve(specifier, context);
    },
    load(url, context, nextLoad) {
      if (url === test || url.startsWith(bundles)) {
        return { format: 'module', source: readFileSync(fileURLToPath(url === test ? bundle : url)), shortCircuit: true };
      }
      return nextLoad(url, context);
    },
  });
  // The hooks that tap has set for all programs that a test starts would slow them down, too.
  delete process.env.NODE_OPTIONS;
}
