import type { Configuration } from '../../shared/config/configuration.js';
import { idOfUser } from '../../shared/system/user-ids.js';
import { nativeText } from '../../shared/text/native-text.js';

/** The numeric id of the user that workers become; undefined when they keep the master's. */
export function workerUid({ process: { user } }: Configuration): number | undefined {
  return user === undefined || process.geteuid?.() !== 0 ? undefined : idOfUser(nativeText(user));
}
