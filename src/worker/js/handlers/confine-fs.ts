import nodeFs from 'node:fs';
import { dirname, resolve, sep } from 'node:path';

// The module `fs` of a thread with grants: what Node's does, for paths in the granted folders. Links count as what they lead to.

/** A folder that code may read, or write as well. */
export interface FolderGrant {
  readonly path: string;
  readonly write: boolean;
}

type Any = (...args: unknown[]) => unknown;

/** How many arguments of a function are paths, and whether it changes what they name. */
const FUNCTIONS: Readonly<Record<string, { readonly paths: 1 | 2; readonly writes: boolean }>> = {
  access: { paths: 1, writes: false },
  readFile: { paths: 1, writes: false },
  readdir: { paths: 1, writes: false },
  stat: { paths: 1, writes: false },
  lstat: { paths: 1, writes: false },
  realpath: { paths: 1, writes: false },
  writeFile: { paths: 1, writes: true },
  appendFile: { paths: 1, writes: true },
  mkdir: { paths: 1, writes: true },
  rmdir: { paths: 1, writes: true },
  rm: { paths: 1, writes: true },
  unlink: { paths: 1, writes: true },
  rename: { paths: 2, writes: true },
  copyFile: { paths: 2, writes: true },
};

const { realpathSync } = nodeFs;

/** The path without links; of one that is not there yet, where it would be. */
function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) {
      throw error;
    }
    try {
      // A link that leads nowhere would be followed by whatever makes the file.
      if (nodeFs.lstatSync(path).isSymbolicLink()) {
        throw refused(path);
      }
    } catch (inner) {
      if ((inner as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw inner;
      }
    }
    return resolve(withoutLinks(dirname(path)), path.slice(dirname(path).length).replace(/^\/+/, ''));
  }
}

const refused = (path: string): Error =>
  Object.assign(new Error(`EACCES: "js_isolation" does not allow "${path}"`), { code: 'EACCES', path });

/** The module, with its functions for callers that wait, and its promises. */
export function grantedFs(grants: readonly FolderGrant[]): object {
  const folders = grants.map(({ path, write }) => ({ path: realpathSync(path), write }));
  const checked = (given: unknown, writes: boolean): string => {
    // An object may say another path each time that it is asked.
    const text =
      typeof given === 'string'
        ? given
        : given instanceof URL && given.protocol === 'file:'
          ? decodeURIComponent(given.pathname)
          : undefined;
    if (text === undefined || text.includes('\0')) {
      throw new TypeError('The "path" argument must be a string or a URL');
    }
    const path = withoutLinks(resolve(text));
    if (!folders.some((one) => (one.write || !writes) && (path === one.path || path.startsWith(one.path === sep ? sep : one.path + sep)))) {
      throw refused(text);
    }
    return path;
  };
  const call =
    (run: Any, paths: number, writes: boolean): Any =>
    (...args) => {
      const given = args
        .slice(0, paths)
        .map((path, index) => checked(path, writes && !(paths === 2 && index === 0 && run.name.startsWith('copy'))));
      const rest = args.slice(paths).map((option) => plainOptions(option));
      return run(...given, ...rest);
    };
  const sync: Record<string, unknown> = {};
  const promises: Record<string, unknown> = {};
  const node = nodeFs as unknown as Record<string, Any> & { readonly promises: Record<string, Any> };
  for (const [name, { paths, writes }] of Object.entries(FUNCTIONS)) {
    sync[`${name}Sync`] = call(node[`${name}Sync`]!, paths, writes);
    const own = call(node.promises[name]!, paths, writes);
    promises[name] = async (...args: unknown[]) => own(...args);
  }
  sync['existsSync'] = (path: unknown) => {
    try {
      return node['existsSync']!(checked(path, false));
    } catch {
      return false;
    }
  };
  return { ...sync, promises, constants: { ...nodeFs.constants } };
}

/** Options without functions, signals and handles of Node's. */
function plainOptions(option: unknown): unknown {
  if (typeof option !== 'object' || option === null || ArrayBuffer.isView(option)) {
    return option;
  }
  const { encoding, flag, mode, recursive, withFileTypes, force } = option as Record<string, unknown>;
  return { encoding, flag, mode, recursive, withFileTypes, force };
}
