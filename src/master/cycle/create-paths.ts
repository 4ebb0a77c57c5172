import { closeSync, constants, fchmodSync, fchownSync, fstatSync, mkdirSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { openPastLinks } from '../../shared/files/others-link.js';
import { errnoCode, errnoText } from '../../shared/system/errno.js';

/**
 * Creates the folders for temporary and cached files that are missing, and gives them to the user of the workers when there is one. Throws
 * an Error with nginx's message. nginx: ngx_create_paths.
 */
export function createPaths(paths: readonly string[], uid: number | undefined): void {
  for (const path of paths) {
    const native = fsPath(path);
    attempt(`mkdir() "${path}"`, () => {
      try {
        mkdirSync(native, 0o700);
      } catch (error) {
        if (errnoCode(error) !== 'EEXIST') {
          throw error;
        }
      }
    });
    if (uid === undefined) {
      continue;
    }
    // The folder itself is changed, whatever its name leads to by then.
    const folder = attempt(`chown("${path}", ${uid})`, () => openPastLinks(path, constants.O_RDONLY | constants.O_DIRECTORY));
    try {
      const stat = attempt(`stat() "${path}"`, () => fstatSync(folder));
      if (stat.uid !== uid) {
        attempt(`chown("${path}", ${uid})`, () => fchownSync(folder, uid, stat.gid));
      }
      if ((stat.mode & 0o700) !== 0o700) {
        attempt(`chmod() "${path}"`, () => fchmodSync(folder, (stat.mode & 0o7777) | 0o700));
      }
    } finally {
      closeSync(folder);
    }
  }
}

function attempt<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new Error(`${what} failed (${errnoText(error)})`);
  }
}
