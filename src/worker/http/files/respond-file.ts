import type { FileInfo } from '../../files/file-info.js';
import { OK, type Result } from '../../task/codes.js';
import { setContentType } from '../headers/content-type.js';
import { documentSlot } from '../request/document-settings.js';
import { fileSlot } from '../request/file-settings.js';
import type { Request } from '../request/request.js';
import { discardBody } from '../request/request-body.js';
import { bufferSource, respond } from '../request/respond.js';
import { FileSource } from './file-source.js';
import { closeFile } from './open-file.js';

/** Answers with an open file: its time, its validator, its type by the URI, and its bytes, of which ranges may be asked for. */
export function respondFile(r: Request, path: string, info: FileInfo): Result {
  const broken = discardBody(r);
  if (broken !== OK) {
    closeFile(info);
    return broken;
  }
  const out = r.out;
  out.status = 200;
  out.contentLength = info.size;
  out.lastModified = info.mtime;
  out.lastModifiedDate = info.lastModified;
  if (r.location.conf(documentSlot).etag) {
    out.etag = info.etag;
  }
  setContentType(r);
  out.allowRanges = true;
  r.bodyIdentity = info.identity;
  const body = info.body;
  return respond(r, body === null ? new FileSource(info.fd, path, 0, info.size, r.location.conf(fileSlot)) : bufferSource(body));
}
