import { closeSync, readFileSync } from 'node:fs';
import { CRIT, ERROR, WARN } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import { ENOENT, type FileInfo } from '../files/file-info.js';
import { freshFile, whyMissing } from '../http/files/open-file.js';
import { fileSlot } from '../http/request/file-settings.js';
import type { Request } from '../http/request/request.js';
import { type KeySet, readKeySet } from '../jose/key-set.js';
import type { Status } from '../task/codes.js';

/** Longer files are no sets of keys. */
const MAX_BYTES = 1024 * 1024;

/** What files that are kept in memory say, by version of the file. */
const parsed = new WeakMap<FileInfo, KeySet | string>();

/** Reads a file with a JSON Web Key Set as it is now; a status where it cannot be used, which has been logged then. */
export function readKeySetFile(r: Request, path: string): KeySet | Status {
  const info = freshFile(r, path, true, r.location.conf(fileSlot), undefined);
  const errno = info.errno === ENOENT ? whyMissing(path) : info.errno;
  if (errno !== 0) {
    r.log(errno === ENOENT ? ERROR : CRIT, `open() "${path}" failed (${errnoText(errno)})`);
    return 500;
  }
  const known = parsed.get(info);
  const keys = known ?? parse(r, path, info);
  if (typeof keys === 'string') {
    r.log(ERROR, `JSON Web Key Set "${path}" cannot be used: ${keys}`);
    return 500;
  }
  return keys;
}

function parse(r: Request, path: string, info: FileInfo): KeySet | string {
  let keys: KeySet | string;
  if (info.fd === -1) {
    keys = info.body === null ? 'it is no file' : readKeySet(info.body);
    parsed.set(info, keys);
  } else {
    try {
      keys = info.size > MAX_BYTES ? 'it is too long' : readKeySet(readFileSync(info.fd));
    } finally {
      closeSync(info.fd);
    }
  }
  if (typeof keys !== 'string') {
    for (const complaint of keys.complaints) {
      r.log(WARN, `JSON Web Key Set "${path}": ${complaint}`);
    }
  }
  return keys;
}
