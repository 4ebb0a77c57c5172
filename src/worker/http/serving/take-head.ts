import type { Request } from '../request/request.js';
import type { RequestHead } from '../syntax/request-head.js';
import { HTTP_10 } from '../syntax/request-line.js';

/** Takes over from the parsed head what the request may change later. */
export function takeHead(r: Request, head: RequestHead): void {
  r.method = head.method;
  r.methodBit = head.methodBit;
  r.httpVersion = head.version === 0 ? HTTP_10 : head.version;
  r.line = head.line;
  r.uri = head.uri;
  r.args = head.args;
  r.exten = head.exten;
  r.unparsedUri = head.unparsedUri;
  r.validUnparsedUri = head.validUnparsedUri;
  r.schema = head.schema;
  r.contentLength = head.contentLength;
  r.chunkedIn = head.chunked;
  r.requestLength = head.length;
}
