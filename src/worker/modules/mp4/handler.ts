import type { FileInfo } from '../../files/file-info.js';
import { closeFile } from '../../http/files/open-file.js';
import { sendRequested } from '../../http/files/requested-file.js';
import { respondFile, respondHeaded } from '../../http/files/respond-file.js';
import type { Request } from '../../http/request/request.js';
import { DECLINED, OK, type Result } from '../../task/codes.js';
import { Film } from './film.js';
import { mp4Slot } from './settings.js';
import { spanOf } from './times.js';

/** Sends the film that the URI stands for, or what the arguments name of it. nginx: ngx_http_mp4_handler. */
export function sendMp4(r: Request): Result {
  return sendRequested(r, 'mp4', sendSpan);
}

function sendSpan(r: Request, path: string, info: FileInfo): Result {
  const span = r.args === '' ? undefined : spanOf(r.args);
  if (span === undefined) {
    return respondFile(r, path, info);
  }
  r.singleRange = true;
  const film = new Film(r, path, info, span, r.location.conf(mp4Slot));
  const code = film.read();
  if (code === OK && film.head !== null) {
    return respondHeaded(r, path, info, film.head, film.start, film.end);
  }
  if (code === DECLINED) {
    return respondFile(r, path, info);
  }
  closeFile(info);
  return 500;
}
