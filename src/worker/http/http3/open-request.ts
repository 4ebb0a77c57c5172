import { INFO } from '../../../shared/log/level.js';
import { H3_ERROR } from '../http3-frames/protocol.js';
import { SECTION, SectionDecoder } from '../http3-frames/qpack/section-decoder.js';
import { beginRequest } from '../multiplexed/begin-request.js';
import { RequestReader } from '../multiplexed/request-reader.js';
import { CLIENT_CLOSED_REQUEST } from '../request/codes.js';
import { Request } from '../request/request.js';
import { REQUEST_HEADER_TOO_LARGE } from '../syntax/head-parser.js';
import { RequestHead } from '../syntax/request-head.js';
import type { RequestStream } from './channel.js';
import type { Http3Connection } from './connection.js';
import { http3Slot } from './http3-settings.js';
import { Http3Stream } from './stream.js';

// One of each for all connections: a section is read without a pause.
export const decoder = new SectionDecoder();
const reader = new RequestReader(3);

/** Makes the request of a stream. */
export function makeHttp3Stream(c: Http3Connection, channel: RequestStream): Http3Stream {
  c.requests++;
  const stream = new Http3Stream(c, channel);
  stream.request = new Request(stream, c.server, new RequestHead(), null, c.now);
  channel.begins(stream);
  c.requestBegins(stream);
  return stream;
}

/**
 * Runs the request of a header section of `length` bytes, whose beginning the decoder has read, and which ends at `end` of the same
 * memory; `ended`: no body follows. nginx: ngx_http_v3_process_request_header.
 */
export function openRequest(c: Http3Connection, channel: RequestStream, end: number, length: number, ended: boolean): void {
  const stream = makeHttp3Stream(c, channel);
  const r = stream.request;
  reader.begin(r, c.serverName);
  stream.inClosed = ended;
  c.flood.useful(length);
  const code = decoder.decode(end, c.fieldLimits, reader);
  if (code === SECTION.INVALID) {
    c.fail(H3_ERROR.QPACK_DECOMPRESSION_FAILED, decoder.problem);
    // The connection has ended with all of its streams, and nothing is at work for this one that could end it.
    if (!r.finished) {
      r.terminate(CLIENT_CLOSED_REQUEST);
    }
    return;
  }
  c.sectionRead(channel.quic.id, decoder.required);
  if (code === SECTION.TOO_LARGE) {
    r.log(INFO, decoder.problem);
    beginRequest(stream, reader, REQUEST_HEADER_TOO_LARGE, length);
    return;
  }
  beginRequest(stream, reader, isDisabled(c, r) ? 421 : reader.finish(ended), length);
}

/** Refuses a request whose header section is too long to be read. */
export function refuseTooLarge(c: Http3Connection, channel: RequestStream, problem: string): void {
  const stream = makeHttp3Stream(c, channel);
  c.willNotRead(channel);
  reader.begin(stream.request, c.serverName);
  stream.request.log(INFO, problem);
  beginRequest(stream, reader, REQUEST_HEADER_TOO_LARGE, 0);
}

/** The server that the request names does not speak the protocol of the connection. */
export function isDisabled(c: Http3Connection, r: Request): boolean {
  const { http3, http3Hq } = r.server.conf(http3Slot);
  if (c.hq ? http3Hq : http3) {
    return false;
  }
  r.log(INFO, 'client attempted to request the server name for which the negotiated protocol is disabled');
  return true;
}
