import { INFO } from '../../../shared/log/level.js';
import { ERROR_CODE } from '../http2-frames/protocol.js';
import type { Http2Connection } from './connection.js';
import { sized } from './frame-checks.js';
import { breakStream } from './reset-frames.js';

/** The client makes room, on a stream or on all together. nginx: ngx_http_v2_state_window_update. */
export function windowUpdateFrame(c: Http2Connection): void {
  const { bytes, start, streamId } = c.frames;
  if (!sized(c, 'WINDOW_UPDATE', 4)) {
    return;
  }
  const room = bytes.readUInt32BE(start) & 0x7fffffff;
  if (room === 0) {
    c.fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent WINDOW_UPDATE frame with incorrect window increment 0');
    return;
  }
  if (!c.idleFrame()) {
    return;
  }
  if (streamId === 0) {
    if (!c.sending.grow(room)) {
      c.fail(ERROR_CODE.FLOW_CONTROL_ERROR, `client violated connection flow control: ${tooWide(room, c.sending.window.left)}`);
    }
    return;
  }
  const stream = c.streams.get(streamId);
  if (stream === undefined || stream.closed) {
    if (c.streams.isIdle(streamId)) {
      c.fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent WINDOW_UPDATE frame for idle stream');
    }
    return;
  }
  if (stream.sendWindow.grow(room)) {
    stream.windowOpened();
  } else {
    c.note(INFO, `client violated flow control for stream ${streamId}: ${tooWide(room, stream.sendWindow.left)}`);
    breakStream(c, stream, ERROR_CODE.FLOW_CONTROL_ERROR);
  }
}

const tooWide = (room: number, left: number): string =>
  `received WINDOW_UPDATE frame with window increment ${room} not allowed for window ${left}`;

/** Streams take `value` bytes at first from now on, those that are open too; false if that ended the connection. */
export function changeWindows(c: Http2Connection, value: number): boolean {
  const delta = value - c.sending.initialWindow;
  c.sending.initialWindow = value;
  for (const stream of c.streams.all()) {
    if (stream.closed) {
      continue;
    }
    if (stream.sendWindow.grow(delta)) {
      stream.windowOpened();
    } else {
      breakStream(c, stream, ERROR_CODE.FLOW_CONTROL_ERROR);
    }
  }
  return c.open;
}
