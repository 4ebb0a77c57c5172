import { CRIT, DEBUG, ERROR } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { EACCES, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOTDIR, type FileInfo } from '../../files/file-info.js';
import { closeFile, openFile, whyMissing } from '../../http/files/open-file.js';
import { respondFile } from '../../http/files/respond-file.js';
import { documentSlot } from '../../http/request/document-settings.js';
import { noteReasonText } from '../../http/request/error-reason.js';
import { mapPath, noPath } from '../../http/request/map-path.js';
import { sendRedirect } from '../../http/request/redirect.js';
import type { Request } from '../../http/request/request.js';
import { METHOD } from '../../http/syntax/method.js';
import { escapeUri } from '../../http/syntax/uri-escape.js';
import { DECLINED, type Result } from '../../task/codes.js';

/** Sends the file that the URI stands for. nginx: ngx_http_static_handler. */
export function sendFile(r: Request): Result {
  if ((r.methodBit & (METHOD.GET | METHOD.HEAD | METHOD.POST)) === 0) {
    return 405;
  }
  const uri = r.uri;
  if (uri.charCodeAt(uri.length - 1) === 47) {
    return DECLINED;
  }
  const path = mapPath(r);
  if (path === undefined) {
    return noPath(r);
  }
  if (r.debugging) {
    r.log(DEBUG, `http filename: "${path}"`);
  }
  const info = openFile(r, path);
  if (r.trace !== null) {
    const where = { in: r.location, directive: r.location.conf(documentSlot).alias === 0 ? 'root' : 'alias' };
    const what = info.errno !== 0 ? errnoText(info.errno) : info.isDirectory ? 'a folder' : 'the file is sent';
    r.trace.add(r, 'file', `${path}: ${what}`, where, { path, found: info.errno === 0 });
  }
  if (info.errno !== 0) {
    return openFailed(r, path, info);
  }
  if (info.isDirectory) {
    return toFolder(r);
  }
  if (!info.isFile) {
    r.log(CRIT, `"${path}" is not a regular file`);
    return 404;
  }
  if (r.methodBit === METHOD.POST) {
    closeFile(info);
    return 405;
  }
  return respondFile(r, path, info);
}

function openFailed(r: Request, path: string, info: FileInfo): Result {
  switch (info.errno) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
      if (r.location.conf(documentSlot).logNotFound || r.http.explains) {
        const errno = info.errno === ENOENT ? whyMissing(path) : info.errno;
        const line = `${info.failed} "${path}" failed (${errnoText(errno)})`;
        if (r.location.conf(documentSlot).logNotFound) {
          r.log(ERROR, line);
        } else {
          noteReasonText(r, line);
        }
      }
      return 404;
    case EACCES:
    case EMLINK:
    case ELOOP:
      r.log(ERROR, `${info.failed} "${path}" failed (${errnoText(info.errno)})`);
      return 403;
    default:
      r.log(CRIT, `${info.failed} "${path}" failed (${errnoText(info.errno)})`);
      return 500;
  }
}

/** Adds the slash that a folder's URI ends with. */
function toFolder(r: Request): Result {
  const target = `${escapeUri(r.uri, 'uri')}/`;
  return sendRedirect(r, 301, r.args === '' ? target : `${target}?${r.args}`);
}
