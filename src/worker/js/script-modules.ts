import type nodeFs from 'node:fs';
import type nodeQuerystring from 'node:querystring';
import type nodeZlib from 'node:zlib';
import type { Builtins } from './module-loader.js';
import { scriptCreateHmac } from './script-hmac.js';
import { currentTask } from './task.js';

// Node's modules that njs has, too, under the names without `node:`: what njs's programs may do with them and Node's do not take. All else
// is Node's.

/** Each is made when a script first asks for it. */
const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

/** What njs writes: bytes as they are, and everything else as text. */
const written = (data: unknown): unknown =>
  ArrayBuffer.isView(data) ? data : data instanceof ArrayBuffer ? Buffer.from(data) : `${data as string}`;

const isPieces = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && (Symbol.iterator in data || Symbol.asyncIterator in data);

/** Options with what is true or false for the language in the place of what is not `true` or `false`. */
function withFlag(options: unknown, name: string): unknown {
  const value = typeof options === 'object' && options !== null ? (options as Readonly<Record<string, unknown>>)[name] : undefined;
  return value === undefined || typeof value === 'boolean' ? options : { ...(options as object), [name]: Boolean(value) };
}

/** A whole folder goes by another function than in Node's `rmdir`, which is about to lose that option. That one would take a file, too. */
const isRecursive = (options: unknown): boolean => Boolean((options as { readonly recursive?: unknown } | null | undefined)?.recursive);

/** A module with other functions in it. What Node makes when it is asked for stays so. */
const withOwn = <T extends object>(module: T, own: object): T =>
  Object.create(null, { ...Object.getOwnPropertyDescriptors(module), ...Object.getOwnPropertyDescriptors(own) }) as T;

type Rest = readonly unknown[];
type Any = (...args: Rest) => unknown;

/** What njs's promises of `fs` do, which are kept as soon as they are made. */
const PROMISED = 'access appendFile lstat mkdir readdir readFile readlink realpath rename rmdir stat symlink unlink writeFile'.split(' ');

/** The functions of {@link PROMISED}, at once where the value is wanted before anything else happens. */
const promised = (functions: Readonly<Record<string, Any>>, atOnce: Readonly<Record<string, Any>>): Record<string, Any> =>
  Object.fromEntries(
    PROMISED.map((name) => [
      name,
      async (...args: Rest) => (currentTask()?.atOnce === true ? atOnce[`${name}Sync`]!(...args) : functions[name]!(...args)),
    ]),
  );

/** `fs`. nginx: njs_fs_module.c. */
export const scriptFs: () => typeof nodeFs = once(() => {
  const fs = process.getBuiltinModule('fs');
  const node = fs as unknown as Record<string, Any> & { readonly promises: Record<string, Any> };
  const { promises } = node;
  const sync = {
    writeFileSync: (file: unknown, data: unknown, ...rest: Rest) => node['writeFileSync']!(file, written(data), ...rest),
    appendFileSync: (file: unknown, data: unknown, ...rest: Rest) => node['appendFileSync']!(file, written(data), ...rest),
    readSync: (fd: unknown, buffer: NodeJS.ArrayBufferView, ...rest: Rest) =>
      typeof rest[0] === 'number' && rest[1] === undefined
        ? node['readSync']!(fd, buffer, rest[0], buffer.byteLength - rest[0], rest[2] ?? null)
        : node['readSync']!(fd, buffer, ...rest),
    writeSync: (fd: unknown, data: unknown, ...rest: Rest) => node['writeSync']!(fd, written(data), ...rest),
    mkdirSync: (path: unknown, options?: unknown) => node['mkdirSync']!(path, withFlag(options, 'recursive')),
    statSync: (path: unknown, options?: unknown) => node['statSync']!(path, withFlag(options, 'throwIfNoEntry')),
    lstatSync: (path: unknown, options?: unknown) => node['lstatSync']!(path, withFlag(options, 'throwIfNoEntry')),
    rmdirSync: (path: unknown, options?: unknown) =>
      !isRecursive(options)
        ? node['rmdirSync']!(path, options)
        : (node['lstatSync']!(path) as nodeFs.Stats).isDirectory()
          ? node['rmSync']!(path, { recursive: true })
          : node['rmdirSync']!(path),
  };
  // Files that Node can write piece by piece stay its own.
  const pieces =
    (name: string) =>
    (file: unknown, data: unknown, ...rest: Rest) =>
      promises[name]!(file, isPieces(data) ? data : written(data), ...rest);
  const async = {
    ...promises,
    writeFile: pieces('writeFile'),
    appendFile: pieces('appendFile'),
    mkdir: (path: unknown, options?: unknown) => promises['mkdir']!(path, withFlag(options, 'recursive')),
    rmdir: async (path: unknown, options?: unknown) =>
      !isRecursive(options)
        ? promises['rmdir']!(path, options)
        : ((await promises['lstat']!(path)) as nodeFs.Stats).isDirectory()
          ? promises['rm']!(path, { recursive: true })
          : promises['rmdir']!(path),
    async open(...args: Rest): Promise<unknown> {
      const handle = (await promises['open']!(...args)) as { write: Any };
      const { write } = handle;
      handle.write = (data: unknown, ...rest: Rest) => write.call(handle, written(data), ...rest);
      return handle;
    },
  };
  return withOwn(fs, {
    ...sync,
    promises: { ...async, ...promised(async, { ...node, ...(sync as Record<string, unknown>) } as Record<string, Any>) },
  });
});

interface ParseOptions {
  readonly maxKeys?: number;
  readonly decodeURIComponent?: (text: string) => string;
}

/** `querystring`. nginx: njs_query_string_module.c. */
export const scriptQuerystring: () => typeof nodeQuerystring = once(() => {
  const own = process.getBuiltinModule('querystring');
  // Half of a pair of surrogates, which JSON can bring, is shown as what is no character.
  const escaped = (text: unknown): string => own.escape(`${text as string}`.replace(/\p{Surrogate}/gu, '\ufffd'));
  const stringify = (object: object, separator?: string, equals?: string, options?: nodeQuerystring.StringifyOptions): string =>
    own.stringify(object as never, separator, equals, { encodeURIComponent: escaped, ...options });
  const parse = (text: string, separator?: string, equals?: string, options?: ParseOptions): object => {
    const decode = options?.decodeURIComponent;
    let failure: { readonly error: unknown } | undefined;
    const guarded =
      typeof decode !== 'function'
        ? undefined
        : (piece: string): string => {
            try {
              return `${decode(piece)}`;
            } catch (error) {
              failure ??= { error };
              return piece;
            }
          };
    const parsed = own.parse(text, separator, equals, {
      ...options,
      ...(guarded === undefined ? {} : { decodeURIComponent: guarded }),
      // Node counts down to 0, which a fraction does not meet.
      ...(typeof options?.maxKeys === 'number' ? { maxKeys: Math.trunc(options.maxKeys) } : {}),
    });
    if (failure !== undefined) {
      throw failure.error;
    }
    return { ...parsed };
  };
  const unescaped = (text: unknown): string => own.unescape(`${text as string}`.replaceAll('+', ' '));
  return withOwn(own, { escape: escaped, unescape: unescaped, parse, decode: parse, stringify, encode: stringify });
});

const PACKERS = ['deflateSync', 'deflateRawSync', 'inflateSync', 'inflateRawSync'] as const;

/** Options as Node takes them. zlib itself is told of data without a head by a negative size of the window, as njs is. */
function packing(given: nodeZlib.ZlibOptions | undefined, name: string): nodeZlib.ZlibOptions | undefined {
  if (typeof given !== 'object' || given === null) {
    return given;
  }
  const { windowBits, dictionary, level, memLevel, strategy, ...rest } = given as nodeZlib.ZlibOptions & { readonly dictionary?: unknown };
  const raw = name.includes('Raw');
  return {
    ...rest,
    ...(name.startsWith('inflate') ? {} : { level, memLevel, strategy }),
    ...(windowBits === undefined ? {} : { windowBits: raw && windowBits < 0 ? -windowBits : windowBits }),
    ...(dictionary === undefined || dictionary === null
      ? {}
      : { dictionary: (typeof dictionary === 'string' ? Buffer.from(dictionary) : dictionary) as Buffer }),
  };
}

/** `zlib`. nginx: njs_zlib_module.c. */
export const scriptZlib: () => typeof nodeZlib = once(() => {
  const own = process.getBuiltinModule('zlib');
  const packers = PACKERS.map((name) => [
    name,
    (data: unknown, options?: nodeZlib.ZlibOptions) => own[name](written(data) as string, packing(options, name)),
  ]);
  return withOwn(own, Object.fromEntries(packers) as object);
});

/** `crypto`. nginx: njs_crypto_module.c. */
const scriptCryptoModule = once(() => {
  const own = process.getBuiltinModule('crypto');
  return withOwn(own, { createHmac: scriptCreateHmac(own) });
});

/** By the names under which scripts import them. */
export const NJS_MODULES: Builtins = { crypto: scriptCryptoModule, fs: scriptFs, querystring: scriptQuerystring, zlib: scriptZlib };
