import { mkdirSync, renameSync, type Stats } from 'node:fs';
import { fsPath } from '../../../shared/files/fs-path.js';
import { ERROR } from '../../../shared/log/level.js';
import { errnoCode, errnoText } from '../../../shared/system/errno.js';
import { documentSlot } from '../../http/request/document-settings.js';
import { mapPath, noPath } from '../../http/request/map-path.js';
import type { Request } from '../../http/request/request.js';
import { METHOD } from '../../http/syntax/method.js';
import type { Result } from '../../task/codes.js';
import { copyFile, copyTree, deletePath, failure, linkInfo, moveFile } from './files.js';
import { depthOf, destinationOf, hasBody, INFINITE, INVALID, mayOverwrite } from './request-headers.js';
import type { DavSettings } from './settings.js';

const EEXIST = 17;

/** Copies or moves a file or a collection. nginx: ngx_http_dav_copy_move_handler. */
export function copyOrMove(r: Request, conf: Readonly<DavSettings>): Result {
  if (hasBody(r)) {
    r.log(ERROR, 'COPY and MOVE with body are unsupported');
    return 415;
  }
  const given = r.header('destination');
  if (given === undefined) {
    r.log(ERROR, 'client sent no "Destination" header');
    return 400;
  }
  const uri = destinationOf(r, given);
  if (uri === undefined) {
    return 400;
  }
  const refusal = checkRequest(r, given, uri);
  if (refusal !== 0) {
    return refusal;
  }
  const overwrite = mayOverwrite(r);
  if (overwrite === undefined) {
    return 400;
  }
  const from = mapPath(r);
  const to = mapOther(r, uri);
  if (from === undefined) {
    return noPath(r);
  }
  if (to === undefined) {
    return invalid(r, given);
  }
  const source = withoutDoubleSlashes(from);
  const target = withoutDoubleSlashes(to);
  const collection = target.endsWith('/');
  return transfer(r, conf, given, source, collection ? target.slice(0, -1) : target, collection, overwrite);
}

const withoutDoubleSlashes = (path: string): string => path.replace(/\/{2,}/g, '/');

function mapOther(r: Request, uri: string): string | undefined {
  const { uri: own, uriUps } = r;
  r.uri = uri;
  r.uriUps = 0;
  const path = mapPath(r);
  r.uri = own;
  r.uriUps = uriUps;
  return path;
}

function invalid(r: Request, given: string): Result {
  r.log(ERROR, `client sent invalid "Destination" header: "${given}"`);
  return 400;
}

function checkRequest(r: Request, given: string, uri: string): Result {
  if (r.uri.endsWith('/') !== given.endsWith('/')) {
    r.log(ERROR, `both URI "${r.uri}" and "Destination" URI "${given}" should be either collections or non-collections`);
    return 409;
  }
  if (uri.length < r.location.conf(documentSlot).alias) {
    return invalid(r, given);
  }
  const depth = depthOf(r, INFINITE);
  const copying = r.methodBit === METHOD.COPY;
  if (depth === INVALID || depth === 1 || (depth === 0 && !copying)) {
    r.log(ERROR, copying ? '"Depth" header must be 0 or infinity' : '"Depth" header must be infinity');
    return 400;
  }
  return 0;
}

/** nginx: ngx_http_dav_validate_paths. */
function overlap(r: Request, given: string, source: string, target: string, collection: boolean): boolean {
  const from = source.length > 1 && source.endsWith('/') ? source.slice(0, -1) : source;
  if (from === target) {
    r.log(ERROR, `both URI "${r.uri}" and "Destination" URI "${given}" point to the same location`);
    return true;
  }
  if (collection && (target.startsWith(`${from}/`) || source.startsWith(`${target}/`))) {
    refuse(r, given);
    return true;
  }
  return false;
}

function refuse(r: Request, given: string): void {
  r.log(ERROR, `"${r.uri}" could not be ${r.method}ed to collection "${given}"`);
}

function transfer(
  r: Request,
  conf: Readonly<DavSettings>,
  given: string,
  source: string,
  target: string,
  collection: boolean,
  overwrite: boolean,
): Result {
  if (overlap(r, given, source, target, collection)) {
    return 403;
  }
  let before: Stats | undefined;
  try {
    before = linkInfo(target);
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') {
      return failure(r, error, 404, 'lstat()', target);
    }
  }
  if (before?.isDirectory() && !collection) {
    refuse(r, given);
    return 409;
  }
  if (before !== undefined && !overwrite) {
    r.log(ERROR, `"${target}" could not be created (${errnoText(EEXIST)})`);
    return 412;
  }
  let info: Stats;
  try {
    info = linkInfo(source);
  } catch (error) {
    return failure(r, error, 404, 'lstat()', source);
  }
  const moving = r.methodBit === METHOD.MOVE;
  if (r.http.env.rehearsing && (!info.isDirectory() || r.uri.endsWith('/'))) {
    return info.isDirectory() ? 201 : 204;
  }
  if (!info.isDirectory()) {
    const done = moving ? moveFile(r, source, target, conf.access) : copyFile(r, source, target, info);
    return done ? 204 : 500;
  }
  if (!r.uri.endsWith('/')) {
    r.log(ERROR, `"${r.uri}" is collection`);
    return 400;
  }
  if (before !== undefined) {
    const failed = deletePath(r, target, before.isDirectory());
    if (failed !== 0) {
      return failed;
    }
  }
  return transferFolder(r, source.slice(0, -1), target, info, moving);
}

function transferFolder(r: Request, source: string, target: string, info: Stats, moving: boolean): Result {
  if (moving) {
    try {
      renameSync(fsPath(source), fsPath(target));
      return 201;
    } catch {
      // To another file system, perhaps: copied and deleted then.
    }
  }
  try {
    mkdirSync(fsPath(target), { mode: info.mode & 0o777 });
  } catch (error) {
    return failure(r, error, 404, 'mkdir()', target);
  }
  if (!copyTree(r, source, target)) {
    return 500;
  }
  if (!moving) {
    return 201;
  }
  return deletePath(r, source, true) || 201;
}
