import { CRIT, DEBUG } from '../../../shared/log/level.js';
import { closeFile, openFile } from '../../http/files/open-file.js';
import { openFailed, traceFile } from '../../http/files/open-outcome.js';
import { respondFile } from '../../http/files/respond-file.js';
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
  traceFile(r, path, info);
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

/** Adds the slash that a folder's URI ends with. */
function toFolder(r: Request): Result {
  const target = `${escapeUri(r.uri, 'uri')}/`;
  return sendRedirect(r, 301, r.args === '' ? target : `${target}?${r.args}`);
}
