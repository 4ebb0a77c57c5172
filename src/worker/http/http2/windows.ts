import { INFO } from '../../../shared/log/level.js';
import { ERROR_CODE } from '../http2-frames/protocol.js';
import type { Http2Connection } from './connection.js';
import { breakStream } from './reset-frames.js';

/** The client makes room for all streams together. */
export function roomForAll(c: Http2Connection, room: number): void {
  if (!c.sending.grow(room)) {
    c.fail(ERROR_CODE.FLOW_CONTROL_ERROR, `client violated connection flow control: ${tooWide(room, c.sending.window.left)}`);
  }
}

/** The client makes room for the frame's stream. */
export function roomForStream(c: Http2Connection, room: number): void {
  const { streamId } = c.frames;
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
  const delta = value - c.initialWindow;
  c.initialWindow = value;
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
