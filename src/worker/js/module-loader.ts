import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, isAbsolute, resolve } from 'node:path';
import { compileFunction, constants } from 'node:vm';
import { ownValue } from '../../shared/collection/own-value.js';
import { IMPORT, type NativeImport, namespaceOf, nativeImport } from './dynamic-import.js';
import type { toScript } from './transform.js';

/** What a module exports, by name. */
export type Exports = Readonly<Record<string, unknown>>;

/** Modules by the names that they are imported by, made when they are; in place of Node's where that has one of the name. */
export type Builtins = Readonly<Record<string, () => unknown>>;

/** What decides on what modules may import, where not all is allowed. */
export interface LoaderGate {
  /** One of Node's modules, as far as it is there. @throws Error where it is not */
  builtin(name: string): unknown;
  /** Whether a file is the code's own. */
  allows(file: string): boolean;
}

/** A file as a function, for as many modules as are made of it. */
interface Compiled {
  readonly run: (...args: unknown[]) => unknown;
  readonly esModule: boolean;
}

interface Loaded {
  exports: Record<string, unknown>;
  /** The module was an ES module: its `default` is what others import. */
  esModule: boolean;
}

const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname', IMPORT];

/** What V8 says of a script that is an ES module. */
const MODULE_ERRORS =
  /^(?:Unexpected token 'export'|Cannot use import statement outside a module|Cannot use 'import\.meta' outside a module)/;

/** What is wrong with a file that cannot be compiled: the message, and the file's own line. */
export class ModuleSyntaxError extends SyntaxError {
  /** The place as `file:line`, and the line's text, for messages of one line. */
  readonly where: string;
  /** The place to show with its line; undefined where only the file is known. */
  readonly place: { readonly file: string; readonly line: number; readonly column: number; readonly source: string } | undefined;

  constructor(message: string, file: string, line: number | undefined, source: string, column = 1) {
    super(message);
    this.place = line === undefined ? undefined : { file, line, column, source };
    const place = line === undefined ? file : `${file}:${line}`;
    const text = line === undefined ? '' : (source.split('\n')[line - 1] ?? '').trim();
    this.where = text === '' ? `in ${place}` : `in ${place}: ${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text}`;
    this.stack = `SyntaxError: ${message}\n    at ${place}`;
  }
}

const LONGEST_SHOWN = 120;

/** Files that somebody may change are looked for up to so many. */
const MOST_FILES = 10_000;

/**
 * Loads the modules of a configuration, each once. Files of the user's own may be ES modules, CommonJS or TypeScript, and may import each
 * other by names relative to their own folder, that of the configuration, and those of `js_path`, in this order; packages and Node's own
 * modules are loaded by Node. nginx: ngx_js_module_loader.
 */
export class ModuleLoader {
  readonly #folders: readonly string[];
  readonly #globals: Readonly<Record<string, unknown>>;
  readonly #modules = new Map<string, Loaded>();
  #compiled = new Map<string, Compiled>();
  readonly #transform: () => typeof toScript;
  readonly #builtins: Builtins;
  readonly #gate: LoaderGate | undefined;

  /**
   * `folders`: where imported names are looked for. `globals`: what the user's files find beside Node's globals, and in place of them.
   * `transform` is asked for when the first ES module or TypeScript file is met. `builtins`: modules
   * that Node does not have, or has otherwise. `gate` is asked for Node's modules and for files, where there is one.
   */
  constructor(
    folders: readonly string[],
    globals: Readonly<Record<string, unknown>>,
    transform: () => typeof toScript,
    builtins: Builtins,
    gate?: LoaderGate,
  ) {
    this.#folders = folders;
    this.#globals = globals;
    this.#transform = transform;
    this.#builtins = builtins;
    this.#gate = gate;
  }

  /** One whose modules are made anew, of what this one has compiled. */
  fresh(): ModuleLoader {
    const other = new ModuleLoader(this.#folders, this.#globals, this.#transform, this.#builtins, this.#gate);
    other.#compiled = this.#compiled;
    return other;
  }

  /** What the user's files find by this name. */
  global(name: string): unknown {
    return this.#globals[name];
  }

  /** The default export of the module that `js_import` names. @throws what the module throws, or an Error when there is none. */
  load(name: string): unknown {
    const file = this.#own(name);
    if (file === undefined && (Object.hasOwn(this.#builtins, name) || isBuiltin(name))) {
      return this.#requireFrom(`${this.#folders[0] ?? '/'}/`)(name);
    }
    if (file === undefined) {
      throw new Error(`Cannot find module "${name}"`);
    }
    const { exports, esModule } = this.#module(file);
    return esModule ? (exports.default ?? exports) : exports;
  }

  /** Looks whether a module can be loaded, without running it. @throws what is wrong with it. */
  check(name: string): void {
    const file = this.#own(name);
    if (file === undefined && (Object.hasOwn(this.#builtins, name) || isBuiltin(name))) {
      return;
    }
    if (file === undefined) {
      throw new Error(`Cannot find module "${name}"`);
    }
    if (!isNative(file)) {
      this.#compile(file, readFileSync(file, 'utf8'));
    }
  }

  /** The files of modules and of what they import, without running anything; of packages, those that lie elsewhere than they are found. */
  files(names: readonly string[]): string[] {
    const found = new Set<string>();
    const visit = (file: string | undefined): void => {
      if (file === undefined || found.has(file) || found.size === MOST_FILES || isInstalled(file)) {
        return;
      }
      found.add(file);
      if (/\.(?:json|node)$/.test(file)) {
        return;
      }
      const native = createRequire(file);
      const text = readFileSync(file, 'utf8');
      for (const [, imported] of text.matchAll(/(?:\bfrom|\bimport|\brequire\s*\()\s*(?:\(\s*)?['"]([^'"]+)['"]/g)) {
        if (!isBuiltin(imported!)) {
          visit(this.#find(imported!, this.#foldersFor(file)) ?? linked(native, imported!));
        }
      }
    };
    for (const name of names) {
      visit(this.#find(name, this.#folders));
    }
    return [...found];
  }

  /** The file that `js_import` names. As in njs, modules of the server come before files of their names. */
  #own(name: string): string | undefined {
    return Object.hasOwn(this.#builtins, name) ? undefined : this.#find(name, this.#folders);
  }

  /** Where the names that a file imports are looked for. As in nginx, a link leads to the folder of what it links to. */
  #foldersFor(file: string): string[] {
    const real = existsSync(file) ? realpathSync(file) : file;
    return [...new Set([dirname(real), dirname(file)]), ...this.#folders];
  }

  #find(name: string, folders: readonly string[]): string | undefined {
    const candidates = isAbsolute(name) ? [name] : folders.map((folder) => resolve(folder, name));
    for (const path of candidates) {
      for (const file of [path, `${path}.js`, `${path}.mjs`, `${path}.ts`]) {
        if (existsSync(file) && statSync(file).isFile() && this.#gate?.allows(file) !== false) {
          return file;
        }
      }
    }
    return undefined;
  }

  #module(file: string): Loaded {
    const known = this.#modules.get(file);
    if (known !== undefined) {
      return known;
    }
    if (isNative(file)) {
      const exports = loadNatively(file) as Record<string, unknown>;
      const native = { exports, esModule: exports?.__esModule === true };
      this.#modules.set(file, native);
      return native;
    }
    let compiled = this.#compiled.get(file);
    if (compiled === undefined) {
      compiled = this.#compile(file, readFileSync(file, 'utf8'));
      this.#compiled.set(file, compiled);
    }
    const { run, esModule } = compiled;
    const loaded: Loaded = { exports: {}, esModule };
    this.#modules.set(file, loaded);
    try {
      const module = { exports: loaded.exports };
      run.call(module.exports, module.exports, this.#requireFrom(file), module, file, dirname(file), this.#importFrom(file));
      loaded.exports = module.exports;
      // What a bundler has made of an ES module says so.
      loaded.esModule ||= loaded.exports?.__esModule === true;
    } catch (error) {
      this.#modules.delete(file);
      throw error;
    }
    return loaded;
  }

  /** Makes a function of a file. Where the name does not say whether it is an ES module, the parser does. @throws ModuleSyntaxError */
  #compile(file: string, source: string): Compiled {
    const typed = /\.[mc]?ts$/.test(file);
    if (typed || file.endsWith('.mjs')) {
      return { run: this.#esModule(file, source, typed), esModule: true };
    }
    let run: (...args: unknown[]) => unknown;
    try {
      run = this.#script(file, source);
    } catch (error) {
      try {
        return { run: this.#esModule(file, source, false), esModule: true };
      } catch (moduleError) {
        throw MODULE_ERRORS.test((error as Error).message) ? moduleError : syntaxError(error as Error, file, source);
      }
    }
    return { run, esModule: false };
  }

  #esModule(file: string, source: string, typed: boolean): (...args: unknown[]) => unknown {
    try {
      return this.#script(file, this.#transform()(source, file, typed));
    } catch (error) {
      throw syntaxError(error as Error, file, source);
    }
  }

  /** A module that declares a name of {@link #globals} itself does not get that one. */
  #script(file: string, source: string): (...args: unknown[]) => unknown {
    const names = Object.keys(this.#globals);
    for (;;) {
      try {
        const run = compileFunction(source, [...PARAMETERS, ...names], {
          filename: file,
          importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
        } as Parameters<typeof compileFunction>[2]) as (...args: unknown[]) => unknown;
        const values = names.map((name) => this.#globals[name]);
        return function (this: unknown, ...args) {
          return run.call(this, ...args, ...values);
        };
      } catch (error) {
        const at = names.indexOf(/^Identifier '(\w+)' has already been declared/.exec((error as Error).message)?.[1] ?? '');
        if (at === -1) {
          throw error;
        }
        names.splice(at, 1);
      }
    }
  }

  /** `import()` of an ES module, which gives the same modules as its other imports. */
  #importFrom(file: string): (name: unknown, options?: unknown) => Promise<unknown> {
    let native: NativeImport | undefined;
    return async (given, options) => {
      const name = String(given);
      const builtin = ownValue(this.#builtins, name);
      if (builtin !== undefined && (this.#gate === undefined || !isBuiltin(name))) {
        return namespaceOf(builtin());
      }
      if (!isBuiltin(name) && !isPackage(createRequire(file), name)) {
        const own = this.#find(name, this.#foldersFor(file));
        if (own !== undefined && !isNative(own)) {
          const { exports, esModule } = this.#module(own);
          return esModule ? exports : namespaceOf(exports);
        }
      }
      native ??= nativeImport(file);
      return native(name, options);
    };
  }

  #requireFrom(file: string): (name: string) => unknown {
    const native = createRequire(file);
    return (name) => {
      if (isBuiltin(name) && this.#gate !== undefined) {
        return this.#gate.builtin(name);
      }
      // As in njs, its modules come before files of their names.
      const builtin = ownValue(this.#builtins, name);
      if (builtin !== undefined) {
        return builtin();
      }
      if (isBuiltin(name) || isPackage(native, name)) {
        return native(name);
      }
      const own = this.#find(name, this.#foldersFor(file));
      return own === undefined ? native(name) : this.#module(own).exports;
    };
  }
}

/**
 * Whether a name without an extension is a package's. A file of the user's may have the same name, as `hono.js` that imports `hono` has.
 */
function isPackage(native: NodeJS.Require, name: string): boolean {
  if (/^[./]|\.[mc]?[jt]s$/.test(name)) {
    return false;
  }
  try {
    return isAbsolute(native.resolve(name));
  } catch {
    return false;
  }
}

/** The error of V8 or of the transformer with the place in the file that it names. */
function syntaxError(
  error: Error & { readonly loc?: { readonly line: number; readonly column: number } },
  file: string,
  source: string,
): Error {
  if (error instanceof ModuleSyntaxError) {
    return error;
  }
  const { stack = '' } = error;
  const line = error.loc?.line ?? (stack.startsWith(`${file}:`) ? Number.parseInt(stack.slice(file.length + 1), 10) : Number.NaN);
  const message = error.message.replace(/^Error transforming [^\n]*?: (.*?) \(\d+:\d+\)$/s, '$1');
  // The transformer keeps lines, but not what stands in them.
  const own = stack.split('\n')[1] === source.split('\n')[line - 1];
  const column = error.loc?.column ?? (own ? caretIn(stack) : 1);
  return Number.isNaN(line)
    ? new ModuleSyntaxError(message, file, undefined, source)
    : new ModuleSyntaxError(message, file, line, source, column);
}

/** Has Node load a file. @throws ModuleSyntaxError for one of the user's own that Node cannot read */
function loadNatively(file: string): unknown {
  try {
    return createRequire(file)(file);
  } catch (error) {
    if (!(error instanceof SyntaxError) || file.includes('/node_modules/')) {
      throw error;
    }
    const { message, stack = '' } = error;
    // V8's beginning of the stack names the file; of JSON, Node's message does.
    const thrown = /^(\/[^\n]*):(\d+)\n/.exec(stack);
    if (thrown !== null) {
      const source = readFileSync(thrown[1]!, 'utf8');
      throw new ModuleSyntaxError(message, thrown[1]!, Number(thrown[2]), source, caretIn(stack));
    }
    const [, named, text] = /^(\/.*?): (.*)$/s.exec(message) ?? [];
    if (named === undefined || !existsSync(named)) {
      throw error;
    }
    const source = readFileSync(named, 'utf8');
    const [line, column] = placeInJson(source);
    throw new ModuleSyntaxError(text!.replace(/\s*\n\s*/g, ' '), named, line, source, column);
  }
}

/** The column under which V8 puts a caret, at the beginning of a stack. */
function caretIn(stack: string): number {
  const [, , marks = ''] = stack.split('\n');
  return Math.max(1, marks.indexOf('^') + 1);
}

/** Where JSON stops to be JSON: V8 tells the position of long texts only. */
function placeInJson(source: string): [line: number | undefined, column: number] {
  try {
    // Spaces at the end change nothing but the length.
    JSON.parse(source.replace(/^\ufeff/, '') + ' '.repeat(100));
  } catch (error) {
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec((error as Error).message) ?? [];
    if (line !== undefined) {
      return [Number(line), Number(column)];
    }
  }
  return [undefined, 1];
}

/** A file of a package that `npm link` or a workspace has put where it is found by a link. */
function linked(native: NodeJS.Require, name: string): string | undefined {
  try {
    const file = native.resolve(name);
    return isAbsolute(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Files of packages as npm has installed them: nobody changes those. */
const isInstalled = (file: string): boolean => file.includes('/node_modules/');

/** What Node loads itself: packages, and files that say by their names what they are. */
const isNative = (file: string): boolean => file.includes('/node_modules/') || /\.(?:cjs|json|node)$/.test(file);
