import { createRequire } from 'node:module';
import { functionOf, ModuleLoader, memberOf } from './module-loader.js';
import { type ScriptHost, scriptGlobals } from './ngx-object.js';
import type { toScript } from './transform.js';

/** One `js_import`: the name that directives use, and the file. */
export interface Import {
  readonly name: string;
  readonly file: string;
  /** Folder of the main configuration file, with its slash, in which the file is looked for last. */
  readonly confFolder: string;
}

export type ScriptFunction = (...args: unknown[]) => unknown;

/** The build puts it beside the program. */
const loadTransform = (): typeof toScript =>
  (createRequire(import.meta.url)('./js-transform.js') as { readonly toScript: typeof toScript }).toScript;

/**
 * Looks whether the modules of a location can be loaded, without running them.
 * @throws what is wrong with one.
 */
export function checkImports(imports: readonly Import[], folders: readonly string[]): void {
  const loader = new ModuleLoader(folders, {}, loadTransform);
  for (const { file } of imports) {
    loader.check(file);
  }
}

/**
 * The modules as a worker would have them, in a process that serves nobody: there are no dictionaries, and nothing is logged.
 * @throws what a module throws while it is loaded.
 */
export function trialScripts(imports: readonly Import[], folders: readonly string[], version: string): Scripts {
  const confPrefix = imports[0]?.confFolder ?? '';
  const host = { prefix: confPrefix, confPrefix, confFile: '', workerId: 0, version };
  return new ScriptLibrary({ ...host, log: { log() {} }, dict: () => undefined, dictNames: () => [] }).scripts(imports, folders);
}

/** All modules of one worker, by the folders of `js_path` that they are looked for in. */
export class ScriptLibrary {
  readonly #globals: Readonly<Record<string, unknown>>;
  readonly #loaders = new Map<string, ModuleLoader>();

  constructor(host: ScriptHost) {
    this.#globals = scriptGlobals(host);
  }

  /** The functions that directives of a location can name. */
  scripts(imports: readonly Import[], folders: readonly string[]): Scripts {
    const key = folders.join('\0');
    let loader = this.#loaders.get(key);
    if (loader === undefined) {
      loader = new ModuleLoader(folders, this.#globals, loadTransform);
      this.#loaders.set(key, loader);
    }
    return new Scripts(loader, imports);
  }
}

/** The modules that a location has imported. */
export class Scripts {
  readonly #modules = new Map<string, unknown>();

  /** @throws what a module throws while it is loaded. */
  constructor(loader: ModuleLoader, imports: readonly Import[]) {
    for (const { name, file } of imports) {
      this.#modules.set(name, loader.load(file));
    }
  }

  /** A function by the name that a directive gives, `module.function`; undefined when there is none. */
  find(name: string): ScriptFunction | undefined {
    const [module = '', ...path] = name.split('.');
    return this.#modules.has(module) ? functionOf(this.#modules.get(module), path) : undefined;
  }

  /** What a name stands for, with what it is a member of; undefined when there is no such module. */
  value(name: string): { readonly owner: unknown; readonly value: unknown } | undefined {
    const [module = '', ...path] = name.split('.');
    return this.#modules.has(module) ? memberOf(this.#modules.get(module), path) : undefined;
  }
}
