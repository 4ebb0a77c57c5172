import { realpathSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { writeFresh } from '../../shared/files/state-file.js';

/** Writes a file beside the old one and puts it in its place, so that a server never reads half of it. Links stay links. */
export function replaceFile(file: string, text: string): void {
  const target = realpathSync(fsPath(file), 'buffer');
  const fresh = Buffer.concat([target, Buffer.from(`.${process.pid}.new`)]);
  const { mode, uid, gid } = statSync(target);
  try {
    writeFresh(fresh, Buffer.from(text, 'latin1'), { mode: mode & 0o7777, owner: { uid, gid } });
    renameSync(fresh, target);
  } catch (error) {
    unlinkIfThere(fresh);
    throw error;
  }
}

function unlinkIfThere(path: Buffer): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made.
  }
}
