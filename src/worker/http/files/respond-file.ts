import { etagOf, type FileInfo } from '../../files/file-info.js';
import { OK, type Result } from '../../task/codes.js';
import { setContentType } from '../headers/content-type.js';
import type { SeekableSource } from '../request/body-stage.js';
import { documentSlot } from '../request/document-settings.js';
import { fileSlot } from '../request/file-settings.js';
import type { Request } from '../request/request.js';
import { discardBody } from '../request/request-body.js';
import { bufferSource, respond } from '../request/respond.js';
import { FileSource } from './file-source.js';
import { HeadedSource } from './headed-source.js';
import { closeFile } from './open-file.js';

/**
 * Answers with an open file: its time, its validator, its type by the URI, and its bytes, of which ranges may be asked for. `coding`: what
 * its content is packed in.
 */
export function respondFile(r: Request, path: string, info: FileInfo, coding?: string): Result {
  const broken = discardBody(r);
  if (broken !== OK) {
    closeFile(info);
    return broken;
  }
  r.main.clientExchange.action = 'sending response to client';
  describe(r, info, info.size, coding);
  r.bodyIdentity = info.identity;
  return respond(r, contentOf(r, path, info));
}

/**
 * Answers with `head` and, behind it, the bytes from `start` up to, not including, `end` of an open file, with the time of
 * the whole file. The request's body was discarded.
 */
export function respondHeaded(r: Request, path: string, info: FileInfo, head: Buffer, start: number, end: number): Result {
  describe(r, info, head.length + end - start);
  r.bodyIdentity = undefined;
  return respond(r, new HeadedSource(head, contentOf(r, path, info), start, end));
}

function describe(r: Request, info: FileInfo, length: number, coding?: string): void {
  const out = r.out;
  out.status = 200;
  out.contentLength = length;
  out.lastModified = info.mtime;
  out.lastModifiedDate = info.lastModified;
  if (r.location.conf(documentSlot).etag) {
    out.etag = length === info.size ? info.etag : etagOf(info.mtime, length);
  }
  setContentType(r);
  if (coding !== undefined) {
    out.contentEncoding = coding;
  }
  out.allowRanges = true;
}

function contentOf(r: Request, path: string, info: FileInfo): SeekableSource {
  const { body } = info;
  return body === null ? new FileSource(info.fd, path, 0, info.size, r.location.conf(fileSlot)) : bufferSource(body);
}
