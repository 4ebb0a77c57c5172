import { DEBUG } from '../../../shared/log/level.js';
import type { FileInfo } from '../../files/file-info.js';
import { DECLINED, OK, type Result } from '../../task/codes.js';
import { mapPath, noPath } from '../request/map-path.js';
import type { Request } from '../request/request.js';
import { discardBody } from '../request/request-body.js';
import { METHOD } from '../syntax/method.js';
import { openFile } from './open-file.js';
import { openFailed, traceFile } from './open-outcome.js';

/** Answers with an open file, which is its own to close. */
export type SendFile = (r: Request, path: string, info: FileInfo) => Result;

/**
 * What the handlers of locations for films begin with: has `send` answer a GET or HEAD request with the file that its URI stands for.
 * Folders are left to other handlers. `kind` is for the debug log. nginx: the first part of ngx_http_flv_handler and ngx_http_mp4_handler.
 */
export function sendRequested(r: Request, kind: string, send: SendFile): Result {
  if ((r.methodBit & (METHOD.GET | METHOD.HEAD)) === 0) {
    return 405;
  }
  const { uri } = r;
  if (uri.charCodeAt(uri.length - 1) === 47) {
    return DECLINED;
  }
  const broken = discardBody(r);
  if (broken !== OK) {
    return broken;
  }
  const path = mapPath(r);
  if (path === undefined) {
    return noPath(r);
  }
  if (r.debugging) {
    r.log(DEBUG, `http ${kind} filename: "${path}"`);
  }
  const info = openFile(r, path);
  traceFile(r, path, info);
  if (info.errno !== 0) {
    return openFailed(r, path, info);
  }
  return info.isFile ? send(r, path, info) : DECLINED;
}
