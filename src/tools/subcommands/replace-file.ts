import { realpathSync, statSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { replaceStateFile } from '../../shared/files/state-file.js';

/** Replaces a file of the operator's, who keeps its mode and its owner: a server never reads half of it, and links stay links. */
export function replaceFile(file: string, text: string): void {
  const target = realpathSync(fsPath(file), 'latin1');
  const { mode, uid, gid } = statSync(fsPath(target));
  replaceStateFile(target, Buffer.from(text, 'latin1'), { mode: mode & 0o7777, owner: { uid, gid } });
}
