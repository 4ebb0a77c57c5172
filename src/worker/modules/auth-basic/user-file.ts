import { closeSync, readFileSync } from 'node:fs';
import { CRIT, ERROR } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { ENOENT, type FileInfo } from '../../files/file-info.js';
import { freshFile, whyMissing } from '../../http/files/open-file.js';
import { fileSlot } from '../../http/request/file-settings.js';
import type { Request } from '../../http/request/request.js';
import type { Status } from '../../task/codes.js';

const EISDIR = 21;

/** Users of files that are kept in memory, by version of the file. */
const parsed = new WeakMap<FileInfo, ReadonlyMap<string, string>>();

/**
 * Reads a file of users and password hashes as it is now; returns the hashes by user, or the status to answer with when
 * it cannot be read, which has been logged then. nginx: ngx_http_auth_basic_handler.
 */
export function readUsers(r: Request, path: string): ReadonlyMap<string, string> | Status {
  const info = freshFile(r, path, true, r.location.conf(fileSlot), undefined);
  const errno = info.errno === ENOENT ? whyMissing(path) : info.errno;
  if (errno !== 0) {
    r.log(errno === ENOENT ? ERROR : CRIT, `open() "${path}" failed (${errnoText(errno)})`);
    return errno === ENOENT ? 403 : 500;
  }
  if (info.isDirectory) {
    r.log(CRIT, `pread() "${path}" failed (${errnoText(EISDIR)})`);
    return 500;
  }
  if (info.fd !== -1) {
    try {
      return parseUsers(readFileSync(info.fd, 'latin1'));
    } finally {
      closeSync(info.fd);
    }
  }
  let users = parsed.get(info);
  if (users === undefined) {
    users = parseUsers(info.body?.toString('latin1') ?? '');
    parsed.set(info, users);
  }
  return users;
}

/** Takes `user:hash` lines; a hash ends at another colon, `#` starts a comment, and a user's first line counts. */
export function parseUsers(text: string): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0 || line.startsWith('#')) {
      continue;
    }
    const user = line.slice(0, colon);
    if (!users.has(user)) {
      users.set(user, /^[^:\r]*/.exec(line.slice(colon + 1))![0]);
    }
  }
  return users;
}
