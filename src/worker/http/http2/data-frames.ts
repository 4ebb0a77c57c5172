import { INFO } from '../../../shared/log/level.js';
import { hasStream } from '../http2-frames/endpoint.js';
import { ERROR_CODE, FLAG } from '../http2-frames/protocol.js';
import { clientFaults } from './client-faults.js';
import type { Http2Connection } from './connection.js';
import { breakStream, resetAgain } from './reset-frames.js';
import type { Http2Stream } from './stream.js';

/** The head of a DATA frame came. nginx: ngx_http_v2_state_data. */
export function dataFrameHead(c: Http2Connection): void {
  const { streamId, length, left } = c.frames;
  c.dataStream = null;
  if (!hasStream(clientFaults, c, 'DATA', true)) {
    return;
  }
  if (!c.receiveWindow.take(length)) {
    c.fail(ERROR_CODE.FLOW_CONTROL_ERROR, `client violated connection flow control: received DATA frame length ${length}`);
    return;
  }
  const room = c.receiveWindow.refill(0, 0.25);
  if (room > 0) {
    c.sending.giveRoom(0, room);
  }
  const stream = c.streams.get(streamId);
  if (stream === undefined || stream.closed) {
    strayData(c);
    return;
  }
  if (stream.inClosed) {
    c.note(INFO, `client sent DATA frame for half-closed stream ${streamId}`);
    breakStream(c, stream, ERROR_CODE.STREAM_CLOSED);
    return;
  }
  if (length > 0 && !stream.takeWindow(length)) {
    c.note(INFO, `client violated flow control for stream ${streamId}: received DATA frame length ${length}`);
    breakStream(c, stream, ERROR_CODE.FLOW_CONTROL_ERROR);
    return;
  }
  c.dataStream = stream;
  if (left === 0) {
    dataEnd(c, stream);
  }
}

/** A piece of a DATA frame came. nginx: ngx_http_v2_state_read_data. */
export function dataFrame(c: Http2Connection): void {
  const { bytes, start, end, left } = c.frames;
  const stream = c.dataStream;
  if (stream === null || stream.closed) {
    return;
  }
  if (!stream.input.ignoring) {
    c.flood.useful(end - start);
  }
  stream.input.data(bytes, start, end, left);
  if (left === 0 && !stream.closed) {
    dataEnd(c, stream);
  }
}

function dataEnd(c: Http2Connection, stream: Http2Stream): void {
  c.dataStream = null;
  if ((c.frames.flags & FLAG.END_STREAM) !== 0) {
    stream.inputEnded();
  } else if (c.frames.length === 0) {
    c.idleFrame();
  }
}

/** Data came for a stream that is not open. */
function strayData(c: Http2Connection): void {
  const { streamId, left, flags } = c.frames;
  const { closed } = c.streams;
  if (c.streams.isIdle(streamId)) {
    c.fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent DATA frame for idle stream');
    return;
  }
  const ended = closed.ended(streamId);
  if (!ended && closed.took(streamId, left, (flags & FLAG.END_STREAM) !== 0)) {
    c.idleFrame();
    return;
  }
  resetAgain(c, streamId, ended ? ERROR_CODE.STREAM_CLOSED : ERROR_CODE.PROTOCOL_ERROR);
}
