import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fsPath } from '../../shared/files/fs-path.js';
import { byteText } from '../../shared/text/native-text.js';

/**
 * The folder of the shared zones of a master, which keeps a file in it open, and the user who owns it. Undefined where others may not look.
 */
export function zonesFolder(master: number): { readonly folder: string; readonly uid: number } | undefined {
  try {
    for (const descriptor of readdirSync(`/proc/${master}/fd`)) {
      const path = byteText(readlinkSync(`/proc/${master}/fd/${descriptor}`));
      if (/\/sluice-[A-Za-z0-9]{6}\/owner$/.test(path)) {
        const folder = dirname(path);
        return { folder, uid: statSync(fsPath(folder)).uid };
      }
    }
  } catch {
    // A process of another user.
  }
  return undefined;
}

/** Reads the shared zones of a master. Undefined where others may not look. */
export function inZones<T>(master: number, read: (folder: string, uid: number) => T): T | undefined {
  const found = zonesFolder(master);
  try {
    return found && read(found.folder, found.uid);
  } catch {
    return undefined;
  }
}
