import type { Pos, RelatedPosition } from './language/ast.js';

/** Deeper nesting of includes is an error. nginx has no limit but that of its open files. */
const maxDepth = 100;

interface File {
  depth: number;
  /** Where this file names each of the files it includes. */
  readonly includes: Map<string, Pos>;
}

/**
 * Remembers which file includes which, to find an endless include before it is followed. An include has no condition, so a file that
 * can be reached from itself would be read for ever.
 */
export class IncludeGraph {
  readonly #files = new Map<string, File>();

  /** Notes that `path` is about to be read, as `from` asks. Returns why it must not be, if so: the places that make the circle. */
  add(path: string, from: Pos | undefined): { readonly message: string; readonly related: readonly RelatedPosition[] } | undefined {
    const file = this.#file(path);
    if (from === undefined) {
      return undefined;
    }
    const parent = this.#file(from.file);
    if (!parent.includes.has(path)) {
      const way = this.#way(path, from.file);
      if (way !== undefined) {
        return { message: `endless include of "${path}"`, related: way };
      }
      parent.includes.set(path, from);
    }
    file.depth = Math.max(file.depth, parent.depth + 1);
    return file.depth > maxDepth ? { message: `includes are nested deeper than ${maxDepth} levels`, related: [] } : undefined;
  }

  #file(path: string): File {
    let file = this.#files.get(path);
    if (file === undefined) {
      file = { depth: 0, includes: new Map() };
      this.#files.set(path, file);
    }
    return file;
  }

  /** The includes that lead from one file to another: empty if they are the same, undefined if there is no way. */
  #way(path: string, target: string, seen: Set<string> = new Set()): RelatedPosition[] | undefined {
    if (path === target) {
      return [];
    }
    seen.add(path);
    for (const [next, pos] of this.#files.get(path)?.includes ?? []) {
      const rest = seen.has(next) ? undefined : this.#way(next, target, seen);
      if (rest !== undefined) {
        return [{ pos, text: `"${next}" is included here` }, ...rest];
      }
    }
    return undefined;
  }
}
