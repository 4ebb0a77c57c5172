import { DEFAULT_FRAME, ERROR_CODE, FLAG, FRAME } from '../../http/http2-frames/protocol.js';
import { enter, leave } from '../../task/at-work.js';
import { control, tooLong } from './backend-limits.js';
import type { Http2BackendStream } from './backend-stream.js';
import { breakStream, frameStream } from './frame-stream.js';
import type { SharedConnection } from './shared-connection.js';

/** The head of a DATA frame came. */
export function dataFrameHead(c: SharedConnection): void {
  const { length, left } = c.frames;
  c.dataStream = null;
  if (length > DEFAULT_FRAME) {
    tooLong(c);
    return;
  }
  const { receiveWindow } = c;
  if (!receiveWindow.take(length)) {
    c.fail(
      ERROR_CODE.FLOW_CONTROL_ERROR,
      `upstream violated connection flow control, received ${length} data frame with window ${receiveWindow.left}`,
    );
    return;
  }
  const room = receiveWindow.refill(0, 0.25);
  if (room > 0) {
    c.giveRoom(0, room);
  }
  const stream = frameStream(c, 'data frame');
  if (stream === undefined) {
    return;
  }
  if (!stream.user.answered) {
    breakStream(stream, `upstream sent unexpected http2 frame: ${FRAME.DATA}`);
  } else if (stream.inClosed) {
    breakStream(stream, `upstream sent frame for closed stream ${stream.id}`);
  } else if (!stream.takeWindow(length)) {
    breakStream(stream, `upstream violated stream flow control, received ${length} data frame`);
  } else {
    c.dataStream = stream;
    if (left === 0) {
      dataEnd(c, stream);
    }
  }
}

/** A piece of a DATA frame came. */
export function dataFrame(c: SharedConnection): void {
  const { bytes, start, end, left } = c.frames;
  const stream = c.dataStream;
  if (stream === null || stream.closed) {
    return;
  }
  c.guard.useful();
  const before = enter(stream.owner.r);
  stream.data(bytes, start, end);
  leave(before);
  if (left === 0 && !stream.closed) {
    dataEnd(c, stream);
  }
}

function dataEnd(c: SharedConnection, stream: Http2BackendStream): void {
  const { flags, length } = c.frames;
  c.dataStream = null;
  if ((flags & FLAG.END_STREAM) !== 0) {
    const before = enter(stream.owner.r);
    stream.inputEnded();
    leave(before);
  } else if (length === 0) {
    control(c, 'empty data');
  }
}
