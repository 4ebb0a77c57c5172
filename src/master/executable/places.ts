import { closeSync, constants, fchmodSync, fstatSync, lstatSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoCode } from '../../shared/system/errno.js';

/** Names a folder for the files; then no other is tried. */
export const PLACE_VARIABLE = 'SLUICE_CACHE_DIR';

/** In a folder with this bit only the owner of an entry takes it away. */
const STICKY = 0o1000;

/** The folders in which a single executable may make one for its files, the best first. */
export function places(uid: number, env: NodeJS.ProcessEnv): readonly string[] {
  const { HOME, XDG_CACHE_HOME, XDG_RUNTIME_DIR, TMPDIR, [PLACE_VARIABLE]: named } = env;
  if (named !== undefined && named !== '') {
    return [named];
  }
  // What root writes is not to lie in the home of whoever became root.
  const own = uid === 0 ? ['/var/cache', '/run'] : [XDG_CACHE_HOME, HOME === undefined ? HOME : `${HOME}/.cache`, XDG_RUNTIME_DIR];
  const all = [...own, TMPDIR, '/tmp', '/var/tmp', '/dev/shm'];
  return [...new Set(all.filter((folder) => folder?.startsWith('/')))] as string[];
}

/**
 * A folder of this user's below one of the places, which is made if it is missing: its path, without links. No one but root and this user
 * decides what is in it, or what stands at its path. Throws the system's error, or an Error in words.
 */
export function ownFolder(place: string, uid: number, mode: number): string {
  const path = `${trustedPath(place, uid)}/sluice-executable-${uid}`;
  let made = true;
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errnoCode(error) !== 'EEXIST') {
      throw error;
    }
    made = false;
  }
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const found = fstatSync(fd);
    if (found.uid !== uid) {
      throw new Error(`"${path}" belongs to the user ${found.uid}`);
    }
    if ((found.mode & 0o022) !== 0) {
      throw new Error(`others may write into "${path}"`);
    }
    if (made) {
      // Whatever the umask is.
      fchmodSync(fd, mode);
    }
  } finally {
    closeSync(fd);
  }
  return path;
}

/** The real path of a folder. It and all above it belong to root or to this user; where others may write they cannot take away an entry. */
function trustedPath(folder: string, uid: number): string {
  const path = realpathSync(folder);
  for (let at = path; ; at = dirname(at)) {
    const { uid: owner, mode } = lstatSync(at);
    if (owner !== 0 && owner !== uid) {
      throw new Error(`"${at}" belongs to the user ${owner}`);
    }
    if ((mode & 0o022) !== 0 && (mode & STICKY) === 0) {
      throw new Error(`others may write into "${at}"`);
    }
    if (at === dirname(at)) {
      return path;
    }
  }
}
