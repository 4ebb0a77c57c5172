import { lstatSync, readdirSync, statSync } from 'node:fs';
import { fsPath } from '../files/fs-path.js';
import { wildcardRegExp } from './glob-pattern.js';

/** Whether an include argument is a pattern rather than one file's name. nginx: strpbrk(file.data, "*?[") */
export function hasGlobChars(pattern: string): boolean {
  return /[*?[]/.test(pattern);
}

/**
 * The paths (latin1) a pattern matches, in byte order, as glob(3) gives them in the C locale: `*`, `?` and `[...]` in any part of the
 * path, none of them matching a leading dot or a slash; a backslash takes the next character as it is. What cannot be read is left out.
 */
export function globFiles(pattern: string): string[] {
  const slashes = pattern.match(/\/+/g) ?? [];
  const parts = pattern.split(/\/+/).filter((part) => part !== '');
  const isAbsolute = pattern.startsWith('/');
  let found = [isAbsolute ? '/' : ''];
  for (let i = 0; i < parts.length; i++) {
    const separator = slashes[isAbsolute ? i + 1 : i];
    const matching = found.flatMap((directory) => namesMatching(directory, parts[i] as string).map((name) => directory + name));
    if (separator === undefined) {
      found = matching;
    } else {
      // Slashes stay as they are written, but for those at the two ends.
      const kept = i === parts.length - 1 ? '/' : separator;
      found = matching.filter(isDirectory).map((path) => path + kept);
    }
  }
  // Array.sort compares UTF-16 units, which are bytes here.
  return found.sort();
}

function namesMatching(directory: string, part: string): string[] {
  const wildcard = wildcardRegExp(part);
  if (wildcard === undefined) {
    const name = part.replace(/\\(.)/gs, '$1');
    return exists(directory + name) ? [name] : [];
  }
  return ['.', '..', ...entries(directory)].filter((name) => wildcard.test(name));
}

function entries(directory: string): string[] {
  try {
    return readdirSync(fsPath(directory === '' ? '.' : directory), 'latin1');
  } catch {
    return [];
  }
}

function exists(path: string): boolean {
  try {
    lstatSync(fsPath(path));
    return true;
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(fsPath(path)).isDirectory();
  } catch {
    return false;
  }
}
