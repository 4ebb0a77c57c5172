import { compileFunction, constants } from 'node:vm';

/** The parameter of a module's function that has `import()`. */
export const IMPORT = '__import';

/** Node's `import()`, for a name and what `with` says. */
export type NativeImport = (name: string, options?: unknown) => Promise<unknown>;

/** Node's `import()` as a file has it. */
export const nativeImport = (file: string): NativeImport =>
  compileFunction('return (name, options) => import(name, options)', [], {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  } as Parameters<typeof compileFunction>[2])() as NativeImport;

/** What `import()` gives of a module that is no ES module. */
export const namespaceOf = (exports: unknown): object =>
  typeof exports === 'object' || typeof exports === 'function' ? { ...exports, default: exports } : { default: exports };
