const DOT = 0x2e;
const SLASH = 0x2f;

/** Whether the segment that begins at `i` is `..`. */
const isUp = (path: string, i: number): boolean =>
  path.charCodeAt(i) === DOT && path.charCodeAt(i + 1) === DOT && (i + 2 === path.length || path.charCodeAt(i + 2) === SLASH);

/** How many segments of a path are `..`. */
export function ups(path: string): number {
  let count = 0;
  for (let i = path.indexOf('..'); i !== -1; i = path.indexOf('..', i + 2)) {
    if ((i === 0 || path.charCodeAt(i - 1) === SLASH) && isUp(path, i)) {
      count++;
    }
  }
  return count;
}

/** Whether a path that is put behind a folder leads out of it, unless it does so by no more than `meant` segments `..`. */
export function climbs(path: string, meant: number): boolean {
  if (!path.includes('..')) {
    return false;
  }
  let depth = 0;
  let out = false;
  for (let i = 0; i < path.length; ) {
    const end = path.indexOf('/', i);
    const next = end === -1 ? path.length : end;
    if (isUp(path, i)) {
      out = --depth < 0 || out;
    } else if (next > i && !(next === i + 1 && path.charCodeAt(i) === DOT)) {
      depth++;
    }
    i = next + 1;
  }
  return out && ups(path) > meant;
}
