import { lstatSync } from 'node:fs';
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
    const { ELOOP } = constants.errno;
    throw Object.assign(new Error(`ELOOP: the link belongs to the user ${stat.uid}`), { code: 'ELOOP', errno: -ELOOP, path });
  }
}
