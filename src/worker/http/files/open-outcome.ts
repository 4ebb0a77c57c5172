import { CRIT, ERROR } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { EACCES, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOTDIR, type FileInfo } from '../../files/file-info.js';
import type { Result } from '../../task/codes.js';
import { documentSlot } from '../request/document-settings.js';
import { noteReasonText } from '../request/error-reason.js';
import type { Request } from '../request/request.js';
import { whyMissing } from './open-file.js';

/** Tells the request's story what its path led to. */
export function traceFile(r: Request, path: string, info: FileInfo): void {
  if (r.trace === null) {
    return;
  }
  const where = { in: r.location, directive: r.location.conf(documentSlot).alias === 0 ? 'root' : 'alias' };
  const what = info.errno !== 0 ? errnoText(info.errno) : info.isDirectory ? 'a folder' : 'the file is sent';
  r.trace.add(r, 'file', `${path}: ${what}`, where, { path, found: info.errno === 0 });
}

/** The status for a file that cannot be opened; the log is told why. nginx: the end of ngx_http_static_handler's first part. */
export function openFailed(r: Request, path: string, info: FileInfo): Result {
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
