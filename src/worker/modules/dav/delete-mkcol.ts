import { existsSync, mkdirSync, type Stats } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { fsPath } from '../../../shared/files/fs-path.js';
import { ERROR } from '../../../shared/log/level.js';
import { errnoCode, errnoText } from '../../../shared/system/errno.js';
import { mapPath, noPath } from '../../http/request/map-path.js';
import type { Request } from '../../http/request/request.js';
import type { Result } from '../../task/codes.js';
import { deletePath, failure, folderAccess, linkInfo, nameNewResource } from './files.js';
import { depthOf, hasBody, INFINITE, INVALID } from './request-headers.js';
import type { DavSettings } from './settings.js';

const EISDIR = 21;

/** Removes a file or a collection. nginx: ngx_http_dav_delete_handler. */
export function deleteResource(r: Request, conf: Readonly<DavSettings>): Result {
  if (hasBody(r)) {
    r.log(ERROR, 'DELETE with body is unsupported');
    return 415;
  }
  if (conf.minDeleteDepth > 0) {
    const depth = r.uri.split('/').length - 1;
    if ((r.uri.endsWith('/') ? depth - 1 : depth) < conf.minDeleteDepth) {
      r.log(ERROR, `insufficient URI depth:${depth} to DELETE`);
      return 409;
    }
  }
  const path = mapPath(r);
  if (path === undefined) {
    return noPath(r);
  }
  let info: Stats;
  try {
    info = linkInfo(path);
  } catch (error) {
    return failure(r, error, errnoCode(error) === 'ENOTDIR' ? 409 : 404, 'lstat()', path);
  }
  const folder = info.isDirectory();
  if (folder && !r.uri.endsWith('/')) {
    r.log(ERROR, `DELETE "${path}" failed (${errnoText(EISDIR)})`);
    return 409;
  }
  const depth = depthOf(r, folder ? INFINITE : 0);
  if (depth === INVALID || depth === 1 || (folder && depth === 0)) {
    r.log(ERROR, folder ? '"Depth" header must be infinity' : '"Depth" header must be 0 or infinity');
    return 400;
  }
  return deletePath(r, folder ? path.slice(0, -1) : path, folder, path) || 204;
}

/** Makes a collection. nginx: ngx_http_dav_mkcol_handler. */
export function makeCollection(r: Request, conf: Readonly<DavSettings>): Result {
  if (hasBody(r)) {
    r.log(ERROR, 'MKCOL with body is unsupported');
    return 415;
  }
  if (!r.uri.endsWith('/')) {
    r.log(ERROR, 'MKCOL can create a collection only');
    return 409;
  }
  const path = mapPath(r)?.slice(0, -1);
  if (path === undefined) {
    return noPath(r);
  }
  if (r.http.env.rehearsing) {
    return foresee(r, path);
  }
  try {
    mkdirSync(fsPath(path), { mode: folderAccess(conf.access) });
  } catch (error) {
    return failure(r, error, 409, 'mkdir()', path);
  }
  nameNewResource(r);
  return 201;
}

/** What making a folder would come to. */
function foresee(r: Request, path: string): Result {
  if (existsSync(fsPath(path))) {
    return failure(r, { code: 'EEXIST', errno: -constants.errno.EEXIST }, 409, 'mkdir()', path);
  }
  if (!existsSync(fsPath(dirname(path)))) {
    return failure(r, { code: 'ENOENT', errno: -constants.errno.ENOENT }, 409, 'mkdir()', path);
  }
  nameNewResource(r);
  return 201;
}
