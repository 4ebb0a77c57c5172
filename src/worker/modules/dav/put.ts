import { fchmodSync, futimesSync, unlinkSync, writeSync } from 'node:fs';
import { fsPath } from '../../../shared/files/fs-path.js';
import { CRIT, ERROR } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { testFile } from '../../http/files/open-file.js';
import { clientSlot } from '../../http/request/client-settings.js';
import { mapPath, noPath } from '../../http/request/map-path.js';
import type { Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { sendHeader } from '../../http/request/respond.js';
import { openTempFile, type TempFile } from '../../http/request/temp-file.js';
import { DONE, type Result } from '../../task/codes.js';
import { parseHttpDate } from '../../text/http-date.js';
import { moveFile, nameNewResource } from './files.js';
import type { DavSettings } from './settings.js';

const EISDIR = 21;

/** Stores the request's body as a file. nginx: ngx_http_dav_put_handler. */
export function put(r: Request, conf: Readonly<DavSettings>): Result {
  if (r.uri.endsWith('/')) {
    r.log(ERROR, 'cannot PUT to a collection');
    return 409;
  }
  if (r.header('content-range') !== undefined) {
    r.log(ERROR, 'PUT with range is unsupported');
    return 501;
  }
  r.requestBodyInFileOnly = r.http.env.rehearsing === undefined;
  readBody(r, () => r.finalize(store(r, conf)));
  return DONE;
}

function store(r: Request, conf: Readonly<DavSettings>): Result {
  if (r.contentLength === -1 && !r.chunkedIn && (r.main.body?.length ?? 0) === 0) {
    r.log(ERROR, 'PUT request body must be in a file');
    return 500;
  }
  if (r.main.body?.lost) {
    r.log(ERROR, 'PUT request body is unavailable');
    return 500;
  }
  const path = mapPath(r);
  if (path === undefined) {
    return noPath(r);
  }
  const before = testFile(r, path);
  if (before.isDirectory) {
    r.log(ERROR, `"${path}" could not be created (${errnoText(EISDIR)})`);
    return 409;
  }
  if (r.http.env.rehearsing === undefined && !placeBody(r, path, conf)) {
    return 500;
  }
  const made = before.errno !== 0;
  if (made) {
    nameNewResource(r);
    r.out.contentLength = 0;
  }
  r.out.status = made ? 201 : 204;
  r.headerOnly = true;
  return sendHeader(r);
}

function placeBody(r: Request, path: string, conf: Readonly<DavSettings>): boolean {
  const file = r.main.body?.file ?? ownFile(r);
  if (file === undefined) {
    return false;
  }
  const sent = r.header('date');
  const date = sent === undefined ? -1 : parseHttpDate(sent);
  let call = 'chmod()';
  try {
    fchmodSync(file.fd, conf.access);
    call = 'utimes()';
    if (date !== -1) {
      futimesSync(file.fd, date, date);
    }
  } catch (error) {
    r.log(CRIT, `${call} "${file.path}" failed (${errnoText(error)})`);
    return false;
  }
  return moveFile(r, file.path, path, conf.createFullPutPath ? conf.access : undefined);
}

/** The file for a body that is not in one, because it is empty or was read before. It is closed with the request. */
function ownFile(r: Request): TempFile | undefined {
  try {
    const file = openTempFile(r.location.conf(clientSlot).clientBodyTempPath);
    r.onFinish(() => {
      file.close();
      try {
        unlinkSync(fsPath(file.path));
      } catch {
        // Mostly it was moved to its place.
      }
    });
    for (const piece of r.main.body?.bytes.pieces ?? []) {
      for (let at = 0; at < piece.length; ) {
        at += writeSync(file.fd, piece, at);
      }
    }
    return file;
  } catch (error) {
    r.log(CRIT, (error as Error).message);
    return undefined;
  }
}
