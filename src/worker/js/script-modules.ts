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

/** A whole folder goes by another function than in Node's `rmdir`, which is about to lose that option. */
const isRecursive = (options: unknown): boolean => (options as { readonly recursive?: unknown } | null | undefined)?.recursive === true;

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
        ? node['readSync']!(fd, buffer, rest[0], Math.max(0, buffer.byteLength - rest[0]), rest[2] ?? null)
        : node['readSync']!(fd, buffer, ...rest),
    rmdirSync: (path: unknown, options?: unknown) => node[isRecursive(options) ? 'rmSync' : 'rmdirSync']!(path, options),
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
    rmdir: (path: unknown, options?: unknown) => promises[isRecursive(options) ? 'rm' : 'rmdir']!(path, options),
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
  const escaped = (text: unknown): string => own.escape(String(text).replace(/\p{Surrogate}/gu, '\ufffd'));
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
              return decode(piece);
            } catch (error) {
              failure ??= { error };
              return piece;
            }
          };
    const parsed = own.parse(text, separator, equals, guarded === undefined ? options : { ...options, decodeURIComponent: guarded });
    if (failure !== undefined) {
      throw failure.error;
    }
    return { ...parsed };
  };
  const unescaped = (text: unknown): string => own.unescape(String(text).replaceAll('+', ' '));
  return withOwn(own, { escape: escaped, unescape: unescaped, parse, decode: parse, stringify, encode: stringify });
});

const PACKERS = ['deflateSync', 'deflateRawSync', 'inflateSync', 'inflateRawSync'] as const;

/** `zlib`. nginx: njs_zlib_module.c. */
export const scriptZlib: () => typeof nodeZlib = once(() => {
  const own = process.getBuiltinModule('zlib');
  const packers = PACKERS.map((name) => [
    name,
    (data: unknown, options?: nodeZlib.ZlibOptions) => {
      const dictionary: unknown = options?.dictionary;
      const given = typeof dictionary === 'string' ? { ...options, dictionary: Buffer.from(dictionary) } : options;
      return own[name](written(data) as string, given);
    },
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
