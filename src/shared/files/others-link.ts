import { closeSync, constants as files, fstatSync, lstatSync, openSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { fsPath } from './fs-path.js';

/**
 * Root follows no link that another user has made: whoever may write into a folder could have it change any file. Throws the system's error
 * for such a link; for other users, the system itself knows what they may. The path is latin1.
 */
export function refuseOthersLink(path: string): void {
  if (process.geteuid?.() !== 0) {
    return;
  }
  const stat = lstatSync(fsPath(path), { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() && stat.uid !== 0) {
    throw refusal(path, `the link belongs to the user ${stat.uid}`);
  }
}

/**
 * Opens a file, and follows no link that {@link refuseOthersLink} refuses, not even one that is put there meanwhile: what is no link
 * when it is looked at is opened as none. A link that root follows leads to what root has made it lead to.
 */
export function openPastLinks(path: string, flags: number, mode?: number): number {
  const native = fsPath(path);
  if (process.geteuid?.() !== 0) {
    return openSync(native, flags, mode);
  }
  refuseOthersLink(path);
  if (lstatSync(native, { throwIfNoEntry: false })?.isSymbolicLink() !== true) {
    return openSync(native, flags | files.O_NOFOLLOW, mode);
  }
  const fd = openSync(native, flags, mode);
  try {
    // It may have been exchanged before it was followed; it is looked at once more, and must lead to what was opened.
    refuseOthersLink(path);
    const opened = fstatSync(fd);
    const named = statSync(native);
    if (opened.dev !== named.dev || opened.ino !== named.ino) {
      throw refusal(path, 'the link has changed');
    }
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return fd;
}

function refusal(path: string, why: string): Error {
  const { ELOOP } = constants.errno;
  return Object.assign(new Error(`ELOOP: ${why}`), { code: 'ELOOP', errno: -ELOOP, path });
}
