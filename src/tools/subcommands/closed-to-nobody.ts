import { closeSync, openSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { idOfUser } from '../../shared/system/user-ids.js';

/** False for root on a machine without the user whom workers become, such as an image that holds one program. */
export const hasNobody = (): boolean => process.geteuid?.() !== 0 || idOfUser('nobody') !== undefined;

/** Whether a server of root's would find nothing there, since its workers may not look. */
export function isClosedToNobody(directory: string): boolean {
  const nobody = process.geteuid?.() === 0 ? idOfUser('nobody') : undefined;
  if (nobody === undefined) {
    return false;
  }
  process.seteuid!(nobody);
  try {
    closeSync(openSync(fsPath(`${directory}/.`), 'r'));
    return false;
  } catch {
    return true;
  } finally {
    process.seteuid!(0);
  }
}
