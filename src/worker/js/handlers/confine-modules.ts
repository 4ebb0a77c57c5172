import asyncHooks from 'node:async_hooks';
import crypto from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { builtinModules, isBuiltin, registerHooks } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoaderGate } from '../module-loader.js';

// What code in a thread with grants may import: some of Node's modules, and files beside its own.

/** Node's modules that give nothing but functions of their arguments. */
export const HARMLESS = [
  'assert',
  'assert/strict',
  'buffer',
  'events',
  'path',
  'path/posix',
  'querystring',
  'stream',
  'stream/promises',
  'stream/web',
  'string_decoder',
  'timers/promises',
  'url',
  'util',
  'util/types',
  'zlib',
];

/** Modules of which a part is there. */
function parts(fs: object | undefined, process: object): Record<string, object> {
  const { setEngine: _engine, setFips: _fips, secureHeapUsed: _heap, ...ciphers } = crypto as typeof crypto & Record<string, unknown>;
  const { AsyncLocalStorage, AsyncResource } = asyncHooks;
  const given: Record<string, object> = { crypto: ciphers, async_hooks: { AsyncLocalStorage, AsyncResource }, process };
  if (fs !== undefined) {
    given['fs'] = fs;
    given['fs/promises'] = (fs as { readonly promises: object }).promises;
  }
  return given;
}

const bare = (name: string): string => name.replace(/^node:/, '');

const refused = (what: string): Error =>
  Object.assign(new Error(`"js_isolation" does not allow to import "${what}"`), { code: 'ERR_ACCESS_DENIED' });

/** Folders of packages that files of a folder find, without links. */
function packagesOf(folder: string): string[] {
  const found: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    try {
      found.push(realpathSync(join(at, 'node_modules')));
    } catch {
      // There is none here.
    }
    if (dirname(at) === at) {
      return found;
    }
  }
}

/** Whether a file is below one of the folders, which have no links. */
function isBelow(folders: readonly string[], file: string): boolean {
  if (!/\.(?:[mc]?[jt]s|json)$/.test(file)) {
    return false;
  }
  try {
    const path = realpathSync(file);
    return folders.some((folder) => path.startsWith(folder + sep));
  } catch {
    return false;
  }
}

/** Has both kinds of `import` and `require` ask. Returns what the loader of the user's own files asks, and the modules to harden. */
export function confineModules(
  files: readonly string[],
  folders: readonly string[],
  fs: object | undefined,
  process: object,
  nodeModule: (name: string) => object,
): { readonly gate: LoaderGate; readonly modules: readonly object[] } {
  const codes = [
    ...files.map((file) => dirname(realpathSync(file))),
    ...folders.filter((one) => existsSync(one)).map((one) => realpathSync(one)),
  ];
  const roots = [...new Set([...codes, ...codes.flatMap((folder) => packagesOf(folder))])];
  const own = new Map(Object.entries(parts(fs, process)));
  const harmless = new Map(HARMLESS.map((name) => [name, nodeModule(name)]));
  const builtin = (name: string): object => {
    const found = own.get(bare(name)) ?? harmless.get(bare(name));
    if (found === undefined) {
      throw refused(name);
    }
    return found;
  };
  const sources = new Map<string, string>();
  const key = `sluice-${crypto.randomUUID()}`;
  registerHooks({
    resolve(specifier, context, next) {
      if (isBuiltin(specifier) || builtinModules.includes(bare(specifier))) {
        const name = bare(specifier);
        builtin(name);
        return own.has(name) ? { url: `${key}:${name}`, shortCircuit: true } : next(specifier, context);
      }
      const found = next(specifier, context);
      if (found.url.startsWith('data:')) {
        return found;
      }
      if (!found.url.startsWith('file:') || !isBelow(roots, fileURLToPath(found.url))) {
        throw refused(specifier);
      }
      return found;
    },
    load(url, context, next) {
      if (!url.startsWith(`${key}:`)) {
        return next(url, context);
      }
      const name = url.slice(key.length + 1);
      let source = sources.get(name);
      if (source === undefined) {
        const names = Object.keys(own.get(name)!).filter((one) => one !== 'default' && /^\w+$/.test(one));
        source = `const all = process.getBuiltinModule(${JSON.stringify(name)});\nexport default all;\nexport { all as 'module.exports' };\n${names.map((one) => `const own_${one} = all.${one}; export { own_${one} as ${one} };`).join('\n')}\n`;
        sources.set(name, source);
      }
      return { format: 'module', source, shortCircuit: true };
    },
  });
  return { gate: { builtin, allows: (file) => isBelow(roots, file) }, modules: [...own.values(), ...harmless.values()] };
}
