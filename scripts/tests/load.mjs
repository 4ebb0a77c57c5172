// Loaded by tap before each test (`.taprc`): gives Node the test's bundle in place of its TypeScript, and bundles it first if need be. The
// hook answers for itself, so that the one with which tap looks for what was covered does not read each file once more. It serves scripts
// that import TypeScript likewise.
import { readFileSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const root = fileURLToPath(new URL('../../', import.meta.url));
const file = process.argv[1];

if (isMainThread && file?.startsWith(root)) {
  const { bundleOf, bundleTests } = await import('./bundle.mjs');
  const path = file.slice(root.length);
  await bundleTests([path]);
  enableCompileCache(`${root}node_modules/.cache/tests/compiled`);
  const test = pathToFileURL(file).href;
  const bundle = pathToFileURL(bundleOf(path)).href;
  const bundles = pathToFileURL(`${root}node_modules/.cache/tests/`).href;
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
