import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { fsPath } from '../../../shared/files/fs-path.js';
import { CRIT, ERROR } from '../../../shared/log/level.js';
import { errnoCode, errnoText } from '../../../shared/system/errno.js';
import type { Request } from '../../http/request/request.js';
import { escapeUri } from '../../http/syntax/uri-escape.js';
import type { Result, Status } from '../../task/codes.js';

/** Whoever may read a folder may also enter it. nginx: ngx_dir_access. */
export const folderAccess = (mode: number): number => mode | ((mode & 0o444) >> 2);

/** What is at a path, links not followed; undefined when nothing is. Throws other errors. */
export const linkInfo = (path: string): Stats => lstatSync(fsPath(path));

/** Logs what failed and says which status to answer; `missing` is that for a path that is not there. nginx: ngx_http_dav_error. */
export function failure(r: Request, error: unknown, missing: Status, call: string, path: string): Status {
  const [level, status] = verdict(errnoCode(error), missing);
  r.log(level, `${call} "${path}" failed (${errnoText(error)})`);
  return status;
}

function verdict(code: string, missing: Status): [typeof ERROR | typeof CRIT, Status] {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ENAMETOOLONG':
      return [ERROR, missing];
    case 'EACCES':
    case 'EPERM':
      return [ERROR, 403];
    case 'EEXIST':
      return [ERROR, 405];
    case 'ENOSPC':
      return [CRIT, 507];
    default:
      return [CRIT, 500];
  }
}

/** Names where the new resource is. nginx: ngx_http_dav_location. */
export function nameNewResource(r: Request): void {
  r.out.location = escapeUri(r.uri, 'uri');
}

/** Removes a file, or a folder with all that is in it. Returns 0 or a status. nginx: ngx_http_dav_delete_path. */
export function deletePath(r: Request, path: string, folder: boolean, told: string = path): Result {
  if (r.http.env.rehearsing) {
    return 0;
  }
  if (folder && !emptyFolder(r, path)) {
    return 500;
  }
  try {
    if (folder) {
      rmdirSync(fsPath(path));
    } else {
      unlinkSync(fsPath(path));
    }
    return 0;
  } catch (error) {
    return failure(r, error, 404, folder ? 'rmdir()' : 'unlink()', told);
  }
}

/** Removes as much of a folder's content as it can. nginx follows links to folders here; sluice removes the links. */
function emptyFolder(r: Request, folder: string): boolean {
  const names = namesIn(r, folder);
  if (names === undefined) {
    return false;
  }
  for (const name of names) {
    const path = `${folder}/${name}`;
    let inner = false;
    try {
      inner = linkInfo(path).isDirectory();
      if (inner) {
        if (!emptyFolder(r, path)) {
          return false;
        }
        rmdirSync(fsPath(path));
      } else {
        unlinkSync(fsPath(path));
      }
    } catch (error) {
      failure(r, error, 404, inner ? 'rmdir()' : 'unlink()', path);
    }
  }
  return true;
}

function namesIn(r: Request, folder: string): string[] | undefined {
  try {
    return readdirSync(fsPath(folder), 'latin1');
  } catch (error) {
    r.log(CRIT, `opendir() "${folder}" failed (${errnoText(error)})`);
    return undefined;
  }
}

/** Copies what is in a folder into another one that exists. Returns false when it could not be read. nginx: ngx_walk_tree. */
export function copyTree(r: Request, from: string, to: string): boolean {
  const names = namesIn(r, from);
  if (names === undefined) {
    return false;
  }
  for (const name of names) {
    const [source, target] = [`${from}/${name}`, `${to}/${name}`];
    let info: Stats;
    try {
      info = statSync(fsPath(source));
    } catch (error) {
      r.log(CRIT, `stat() "${source}" failed (${errnoText(error)})`);
      continue;
    }
    if (info.isFile()) {
      copyFile(r, source, target, info);
    } else if (info.isDirectory()) {
      try {
        mkdirSync(fsPath(target), { mode: folderAccess(info.mode & 0o777) });
      } catch (error) {
        failure(r, error, 404, 'mkdir()', target);
      }
      if (!copyTree(r, source, target)) {
        return false;
      }
      setTime(r, target, info);
    }
  }
  return true;
}

/** Copies a file with its permissions and time. Returns false when that failed. nginx: ngx_copy_file. */
export function copyFile(r: Request, from: string, to: string, info: Stats, flags = 0): boolean {
  try {
    copyFileSync(fsPath(from), fsPath(to), flags);
  } catch (error) {
    r.log(CRIT, `open() "${to}" failed (${errnoText(error)})`);
    return false;
  }
  setTime(r, to, info);
  return true;
}

function setTime(r: Request, path: string, info: Stats): void {
  const seconds = Math.floor(info.mtimeMs / 1000);
  try {
    utimesSync(fsPath(path), seconds, seconds);
  } catch (error) {
    r.log(CRIT, `utimes() "${path}" failed (${errnoText(error)})`);
  }
}

/** Moves a file, if need be to another file system; with `folders` it makes the folders on the way. nginx: ngx_ext_rename_file. */
export function moveFile(r: Request, from: string, to: string, folders: number | undefined): boolean {
  const [source, target] = [fsPath(from), fsPath(to)];
  let problem: unknown;
  try {
    renameSync(source, target);
    return true;
  } catch (error) {
    problem = error;
  }
  if (errnoCode(problem) === 'ENOENT' && folders !== undefined) {
    try {
      mkdirSync(fsPath(dirname(to)), { recursive: true, mode: folderAccess(folders) });
    } catch (error) {
      r.log(CRIT, `mkdir() "${to}" failed (${errnoText(error)})`);
      return false;
    }
    try {
      renameSync(source, target);
      return true;
    } catch (error) {
      problem = error;
    }
  }
  if (errnoCode(problem) === 'EXDEV' && moveAcross(r, from, to)) {
    return true;
  }
  r.log(CRIT, `rename() "${from}" to "${to}" failed (${errnoText(problem)})`);
  return false;
}

/** Copies under another name first, so that nobody sees half a file. */
function moveAcross(r: Request, from: string, to: string): boolean {
  const name = `${to}.${String(process.hrtime.bigint() % 10_000_000_000n).padStart(10, '0')}`;
  try {
    const info = statSync(fsPath(from));
    if (!copyFile(r, from, name, info, constants.COPYFILE_EXCL)) {
      return false;
    }
    chmodSync(fsPath(name), info.mode & 0o777);
    renameSync(fsPath(name), fsPath(to));
    unlinkSync(fsPath(from));
    return true;
  } catch (error) {
    r.log(CRIT, `rename() "${name}" to "${to}" failed (${errnoText(error)})`);
    return false;
  }
}
