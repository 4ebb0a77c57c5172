import { readFileSync } from 'node:fs';
import type { RelatedPosition } from '../../shared/config/language/ast.js';
import { ERROR } from '../../shared/log/level.js';
import { oneLine } from '../../shared/text/error-text.js';
import { byteText } from '../../shared/text/native-text.js';
import { exitWith, ModuleOwner } from './exit-hook.js';
import { holdParts, latePart } from './late-parts.js';
import { ModuleLoader, ModuleSyntaxError } from './module-loader.js';
import { functionOf, isLiteralObject, memberOf } from './module-members.js';
import { nameGlobal } from './named-globals.js';
import { type ScriptHost, type ScriptProtocol, scriptGlobals } from './ngx-object.js';
import { NJS_MODULES } from './script-modules.js';
import type { SharedVariable } from './shared-state.js';
import { catchRejections, currentTask, exceptionText, Task, watchMicrotasks } from './task.js';
import { stateOf } from './task-state.js';
import type { sharedIn, toScript } from './transform.js';

/** One `js_import`: the name that directives use, and the file. */
export interface Import {
  readonly name: string;
  readonly file: string;
  /** Folder of the main configuration file, with its slash, in which the file is looked for first. */
  readonly confFolder: string;
}

/** One `js_preload_object`: a global of the modules, and the complete path of its file. */
export interface Preload {
  readonly name: string;
  readonly file: string;
}

export type ScriptFunction = (...args: unknown[]) => unknown;

const transformer = (): { readonly toScript: typeof toScript; readonly sharedIn: typeof sharedIn } => latePart('js-transform');
const loadTransform = (): typeof toScript => transformer().toScript;

/** What njs has and Node has not, or has otherwise. */
const BUILTINS = {
  ...NJS_MODULES,
  xml: (): unknown => latePart<{ readonly xml: object }>('js-xml').xml,
};

/** Looks whether the modules of a location can be loaded, without running them; `fail` is told of the first that cannot, and why. */
export function checkImports(
  imports: readonly Import[],
  folders: readonly string[],
  preloads: readonly Preload[],
  fail: (problem: string, at: Import | undefined, related: readonly RelatedPosition[]) => void,
): void {
  let current: Import | undefined;
  try {
    const loader = new ModuleLoader(folders, preloaded(preloads), loadTransform, BUILTINS);
    for (current of imports) {
      loader.check(current.file);
    }
  } catch (error) {
    // Nothing has run: where in the server it was found is of no interest.
    const problem = error instanceof ModuleSyntaxError ? problemText(error) : (error as Error).message.split('\n')[0]!;
    fail(error instanceof PreloadError ? problem : `js_import: ${problem}`, current, placesOf(error));
  }
}

/** The line of a module that is wrong, to be shown beside the message. */
export function placesOf(error: unknown): RelatedPosition[] {
  if (!(error instanceof ModuleSyntaxError) || error.place === undefined) {
    return [];
  }
  const { file, line, column, source } = error.place;
  const bytes = byteText(source);
  const before = byteText((source.split('\n')[line - 1] ?? '').slice(0, column - 1)).length;
  return [{ pos: { file: byteText(file), line, column: before + 1 }, text: 'this is what cannot be read', source: bytes }];
}

/** What is wrong with a module, in one line. */
export const problemText = (error: unknown): string =>
  error instanceof ModuleSyntaxError ? `${error.message} ${error.where}` : oneLine(exceptionText(error));

/** The files that modules consist of: their own, and those that they import but for packages. What cannot be read is left out. */
export function scriptFiles(names: readonly string[], folders: readonly string[]): string[] {
  return new ModuleLoader(folders, {}, loadTransform, BUILTINS).files(names);
}

/**
 * What a sentence about a module says of state that its requests have in common; undefined when there is none, or when the module cannot
 * be read.
 */
export function sharedStateText(name: string, folders: readonly string[]): string | undefined {
  let files: string[];
  try {
    files = scriptFiles([name], folders);
  } catch {
    return undefined;
  }
  const parts = files.flatMap((file) =>
    sharedInFile(file).map((one) => `\`${one.name}\` (${file}:${one.line}, assigned in line ${one.assignedAt})`),
  );
  if (parts.length === 0) {
    return undefined;
  }
  const more = parts.length > MOST_SHARED ? ` and ${parts.length - MOST_SHARED} more` : '';
  return `${parts.slice(0, MOST_SHARED).join(', ')}${more}`;
}

const MOST_SHARED = 5;

function sharedInFile(file: string): SharedVariable[] {
  try {
    return transformer().sharedIn(readFileSync(file, 'utf8'), /\.[mc]?ts$/.test(file));
  } catch {
    return [];
  }
}

/** A file of `js_preload_object` cannot be read. */
export class PreloadError extends Error {}

/** The objects of `js_preload_object`, which nobody can change. nginx: ngx_js_init_preload_vm. */
function preloaded(preloads: readonly Preload[]): Record<string, unknown> {
  const globals: Record<string, unknown> = {};
  for (const { name, file } of preloads) {
    try {
      globals[name] = JSON.parse(readFileSync(file, 'utf8'), (_key, value: unknown) =>
        typeof value === 'object' && value !== null
          ? Object.freeze(Array.isArray(value) ? value : Object.setPrototypeOf(value, null))
          : value,
      );
    } catch (error) {
      throw new PreloadError(`failed to initialize preload objects: ${name}: ${oneLine((error as Error).message)}`);
    }
  }
  return globals;
}

/** The modules as a worker would have them, in a process that serves nobody: there are no dictionaries, and nothing is logged. */
export function trialScripts(
  imports: readonly Import[],
  folders: readonly string[],
  preloads: readonly Preload[],
  version: string,
  protocol: ScriptProtocol,
): Scripts {
  const confPrefix = imports[0]?.confFolder ?? '';
  const host = { prefix: confPrefix, confPrefix, confFile: '', workerId: 0, version, argv: ['sluice'], errorLog: '' };
  const library = new ScriptLibrary({ ...host, log: { log() {} }, dict: () => undefined, dictNames: () => [] });
  return library.scripts(imports, folders, preloads, protocol);
}

/** All modules of one worker, by the folders of `js_path` that they are looked for in. */
export class ScriptLibrary {
  readonly #host: ScriptHost;
  readonly #globals: { readonly [protocol in ScriptProtocol]: Readonly<Record<string, unknown>> };
  readonly #loaders = new Map<string, ModuleLoader>();
  readonly #made = new Map<readonly Import[], Map<ModuleLoader, Scripts>>();
  /** By their numbers. */
  readonly #all = new Map<number, Scripts>();

  constructor(host: ScriptHost) {
    this.#host = host;
    this.#globals = { http: scriptGlobals(host, 'http'), stream: scriptGlobals(host, 'stream') };
    holdParts();
    // Programs ask by these names whether they run in the server; packages find them, too.
    const { ngx, njs } = this.#globals.http;
    Object.assign(globalThis, { ngx, njs });
    catchRejections();
    watchMicrotasks();
  }

  /** The functions that directives of a location can name. Modules that cannot be loaded are in the log, and fail whoever calls them. */
  scripts(
    imports: readonly Import[],
    folders: readonly string[],
    preloads: readonly Preload[],
    protocol: ScriptProtocol,
    fresh = false,
  ): Scripts {
    const key = JSON.stringify([folders, preloads, protocol, fresh]);
    let loader = this.#loaders.get(key);
    if (loader === undefined) {
      loader = new ModuleLoader(folders, { ...this.#globals[protocol], ...preloaded(preloads) }, loadTransform, BUILTINS, this.#host.gate);
      this.#loaders.set(key, loader);
    }
    let byLoader = this.#made.get(imports);
    if (byLoader === undefined) {
      byLoader = new Map();
      this.#made.set(imports, byLoader);
    }
    let scripts = byLoader.get(loader);
    if (scripts === undefined) {
      const id = this.#all.size + 1;
      scripts = new (fresh ? FreshScripts : Scripts)(loader, imports, id, this.#host);
      byLoader.set(loader, scripts);
      this.#all.set(id, scripts);
      for (const name of [...imports, ...preloads].map((one) => one.name)) {
        nameGlobal(
          name,
          () => this.#current()?.global(name),
          (value) => this.#current()?.setGlobal(name, value),
        );
      }
    }
    return scripts;
  }

  /** Whose code runs now. */
  #current(): Scripts | undefined {
    return this.#all.get(currentTask()?.owner.engineId ?? 0);
  }
}

/** The modules that a location has imported. */
export class Scripts {
  /** Tells sets of modules apart: `ngx.engine_id`. */
  readonly id: number;
  protected readonly loader: ModuleLoader;
  readonly #modules = new Map<string, unknown>();
  readonly #failures = new Map<string, unknown>();
  /** Globals that have got other values. */
  #changed: Map<string, unknown> | null = null;
  /** What was found already, by its name: a variable asks for each request. */
  readonly #functions = new Map<string, ScriptFunction>();
  /** What the last of the modules that want it has called at the end of each request or session. */
  #exit: (() => unknown) | undefined = undefined;

  constructor(loader: ModuleLoader, imports: readonly Import[], id: number, { log }: ScriptHost) {
    this.id = id;
    this.loader = loader;
    for (const { name, file } of imports) {
      const owner = new ModuleOwner(log);
      try {
        const exports = new Task(owner, { settled() {}, failed() {} }).within(() => loader.load(file));
        this.#modules.set(name, exports);
        this.#exit = owner.loaded(exports) ?? this.#exit;
      } catch (error) {
        log.log(ERROR, `js exception: ${exceptionText(error)}`);
        this.#failures.set(name, error);
      }
    }
  }

  /** A function by the name that a directive gives, `module.function`; undefined when there is none. */
  find(name: string): ScriptFunction | undefined {
    const known = this.#functions.get(name);
    if (known !== undefined) {
      return known;
    }
    const found = this.#look(name);
    if (found !== undefined) {
      this.#functions.set(name, found);
    }
    return found;
  }

  #look(name: string): ScriptFunction | undefined {
    const [module = '', ...path] = name.split('.');
    if (this.#failures.has(module)) {
      return () => {
        throw this.#failures.get(module);
      };
    }
    const found = this.#modules.has(module) ? functionOf(this.#modules.get(module), path) : undefined;
    const exit = this.#exit;
    if (found === undefined || exit === undefined) {
      return found;
    }
    return (...args) => {
      exitWith(exit);
      return found(...args);
    };
  }

  /** The first of the modules that could not be loaded, and what it has thrown. */
  get failure(): { readonly name: string; readonly error: unknown } | undefined {
    for (const [name, error] of this.#failures) {
      return { name, error };
    }
    return undefined;
  }

  /** The names that a module exports with nothing in them, as an object's do that is made before its members are. */
  emptyMembers(name: string): string[] {
    const exports = this.#modules.get(name);
    if (typeof exports !== 'object' || exports === null || !isLiteralObject(exports)) {
      return [];
    }
    return Object.entries(Object.getOwnPropertyDescriptors(exports))
      .filter(([, { value, get }]) => value === undefined && get === undefined)
      .map(([member]) => member);
  }

  /** What the modules find as a global by the name of one of them, or of an object that was loaded for them. */
  global(name: string): unknown {
    if (this.#changed?.has(name)) {
      return this.#changed.get(name);
    }
    return this.#modules.has(name) ? this.#modules.get(name) : this.loader.global(name);
  }

  /** The modules give such a global another value, which other sets of modules do not see. */
  setGlobal(name: string, value: unknown): void {
    (this.#changed ??= new Map()).set(name, value);
  }

  /** What a name stands for, with what it is a member of; undefined when there is no such module. */
  value(name: string): { readonly owner: unknown; readonly value: unknown } | undefined {
    const [module = '', ...path] = name.split('.');
    return this.#modules.has(module) ? memberOf(this.#modules.get(module), path) : undefined;
  }
}

/** Modules that are made anew for each request or session, of one compilation. */
class FreshScripts extends Scripts {
  readonly #imports: readonly Import[];
  readonly #host: ScriptHost;
  readonly #found = new Map<string, ScriptFunction>();
  readonly #made = new WeakMap<object, Scripts>();

  constructor(loader: ModuleLoader, imports: readonly Import[], id: number, host: ScriptHost) {
    super(loader, imports, id, host);
    this.#imports = imports;
    this.#host = host;
  }

  override find(name: string): ScriptFunction | undefined {
    const first = super.find(name);
    if (first === undefined) {
      return undefined;
    }
    let found = this.#found.get(name);
    if (found === undefined) {
      found = (...args) => (this.#here()?.find(name) ?? first)(...args);
      this.#found.set(name, found);
    }
    return found;
  }

  override global(name: string): unknown {
    const here = this.#here();
    return here === undefined ? super.global(name) : here.global(name);
  }

  override setGlobal(name: string, value: unknown): void {
    this.#here()?.setGlobal(name, value);
  }

  /** The modules of the request or session whose code runs now. */
  #here(): Scripts | undefined {
    const subject = currentTask()?.owner.subject;
    if (subject === undefined) {
      return undefined;
    }
    const state = stateOf(subject);
    let scripts = this.#made.get(state);
    if (scripts === undefined) {
      scripts = new Scripts(this.loader.fresh(), this.#imports, this.id, this.#host);
      this.#made.set(state, scripts);
    }
    return scripts;
  }
}
