import { INFO } from '../../../shared/log/level.js';
import { DEFAULT_WINDOW, ERROR_CODE } from '../http2-frames/protocol.js';
import { beginRequest } from '../multiplexed/begin-request.js';
import { RequestReader } from '../multiplexed/request-reader.js';
import { clientSlot } from '../request/client-settings.js';
import { CLIENT_CLOSED_REQUEST } from '../request/codes.js';
import { Request } from '../request/request.js';
import { RequestHead } from '../syntax/request-head.js';
import type { Http2Connection } from './connection.js';
import { decodeBlock } from './decode-block.js';
import { http2Slot } from './http2-settings.js';
import { Http2Stream } from './stream.js';

// One for all connections: a section is read without a pause.
const reader = new RequestReader(2);

/** Whether another stream may be opened: 0, or the code to refuse it with. */
export function mayOpenStream(c: Http2Connection, ended: boolean): number {
  const { http2MaxConcurrentStreams: most, http2BodyPrereadSize } = c.server.conf(http2Slot);
  if (c.streams.size >= most) {
    c.note(INFO, `concurrent streams exceeded ${c.streams.size}`);
    return ERROR_CODE.REFUSED_STREAM;
  }
  if (c.newStreams++ >= 2 * most) {
    c.note(INFO, 'client sent too many streams at once');
    return ERROR_CODE.REFUSED_STREAM;
  }
  if (!c.settingsAcknowledged && !ended && http2BodyPrereadSize < DEFAULT_WINDOW) {
    c.note(INFO, 'client sent stream with data before settings were acknowledged');
    return ERROR_CODE.REFUSED_STREAM;
  }
  return 0;
}

/** Opens a stream and runs its request, whose header section this is. nginx: ngx_http_v2_create_stream, ngx_http_v2_run_request. */
export function openStream(c: Http2Connection, streamId: number, ended: boolean, bytes: Buffer, start: number, end: number): void {
  const now = performance.now();
  c.requests++;
  const stream = new Http2Stream(c, streamId);
  const r = new Request(stream, c.server, new RequestHead(), null, now);
  stream.request = r;
  stream.inClosed = ended;
  c.streams.add(stream);
  c.flood.useful(end - start);
  const { keepaliveTimeout, keepaliveRequests, keepaliveTime } = c.server.root.conf(clientSlot);
  if (keepaliveTimeout === 0 || c.requests >= keepaliveRequests || now - c.acceptedAt > keepaliveTime) {
    c.sendGoaway(ERROR_CODE.NO_ERROR);
  }

  reader.begin(r, c.serverName);
  if (!decodeBlock(c, bytes, start, end, reader)) {
    // The connection has failed with all of its streams, and nothing is at work for this one that could end it.
    if (!r.finished) {
      r.terminate(CLIENT_CLOSED_REQUEST);
    }
    return;
  }
  beginRequest(stream, reader, isDisabled(c, r) ? 421 : reader.finish(ended), end - start);
}

/** The server that the request names does not speak HTTP/2. */
function isDisabled(c: Http2Connection, r: Request): boolean {
  if (r.server.conf(http2Slot).http2 || c.address.http2) {
    return false;
  }
  r.log(INFO, 'client attempted to request the server name for which the negotiated protocol is disabled');
  return true;
}
