import { INFO } from '../../../shared/log/level.js';
import {
  READ_AGAIN,
  READ_BAD_PADDING,
  READ_DATA,
  READ_DATA_HEAD,
  READ_FRAME,
  READ_HEADERS_HEAD,
  READ_TOO_LONG,
} from '../http2-frames/frame-reader.js';
import { ERROR_CODE, FLAG, FRAME } from '../http2-frames/protocol.js';
import type { Http2Connection } from './connection.js';
import { dataFrame, dataFrameHead } from './data-frames.js';
import { hasStream, sized } from './frame-checks.js';
import { continuationFrame, headersFrame, lookIntoHeaders } from './header-frames.js';
import { priorityFrame, priorityUpdateFrame } from './priority-frames.js';
import { rstStreamFrame } from './reset-frames.js';
import { settingsFrame } from './settings-frames.js';
import { windowUpdateFrame } from './window-frames.js';

/** Reads one frame, or a piece of one, and does what it says. Returns the first byte not used. nginx: ngx_http_v2_state_head. */
export function readFrame(c: Http2Connection, bytes: Buffer, at: number, end: number): number {
  const { frames, block } = c;
  const code = frames.read(bytes, at, end);
  if (code === READ_AGAIN) {
    if (block.streamId !== 0 && !block.open) {
      lookIntoHeaders(c);
    }
    return frames.next;
  }
  if (block.open && frames.type !== FRAME.CONTINUATION) {
    c.fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent inappropriate frame while CONTINUATION was expected');
    return end;
  }
  switch (code) {
    case READ_FRAME:
      wholeFrame(c);
      break;
    case READ_DATA_HEAD:
      dataFrameHead(c);
      break;
    case READ_DATA:
      dataFrame(c);
      break;
    case READ_HEADERS_HEAD:
      block.streamId = frames.streamId;
      break;
    case READ_BAD_PADDING:
      c.fail(
        frames.length === 0 ? ERROR_CODE.FRAME_SIZE_ERROR : ERROR_CODE.PROTOCOL_ERROR,
        `client sent padded DATA frame with incorrect length: ${frames.length}`,
      );
      break;
    case READ_TOO_LONG:
      tooLongFrame(c);
      break;
    default:
      c.note(INFO, `client sent frame with unknown type ${frames.type}`);
      c.idleFrame();
      break;
  }
  return frames.next;
}

/** A whole frame that is no DATA. */
function wholeFrame(c: Http2Connection): void {
  switch (c.frames.type) {
    case FRAME.HEADERS:
      headersFrame(c);
      break;
    case FRAME.CONTINUATION:
      continuationFrame(c);
      break;
    case FRAME.PRIORITY:
      priorityFrame(c);
      break;
    case FRAME.RST_STREAM:
      rstStreamFrame(c);
      break;
    case FRAME.SETTINGS:
      settingsFrame(c);
      break;
    case FRAME.PUSH_PROMISE:
      pushPromise(c);
      break;
    case FRAME.PING:
      pingFrame(c);
      break;
    case FRAME.GOAWAY:
      goawayFrame(c);
      break;
    case FRAME.WINDOW_UPDATE:
      windowUpdateFrame(c);
      break;
    default:
      priorityUpdateFrame(c);
      break;
  }
}

/** Only servers promise. */
function pushPromise(c: Http2Connection): void {
  c.fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent PUSH_PROMISE frame');
}

function tooLongFrame(c: Http2Connection): void {
  const { type, length, streamId } = c.frames;
  if (type === FRAME.PUSH_PROMISE) {
    pushPromise(c);
  } else if (type === FRAME.HEADERS || type === FRAME.CONTINUATION) {
    c.block.streamId = streamId;
    c.fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'client sent too large header');
  } else {
    c.fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent frame of type ${type} with incorrect length ${length}`);
  }
}

function pingFrame(c: Http2Connection): void {
  const { bytes, start, end, flags } = c.frames;
  if (sized(c, 'PING', 8) && hasStream(c, 'PING', false) && c.idleFrame() && (flags & FLAG.ACK) === 0) {
    c.sending.output.copy(FRAME.PING, FLAG.ACK, 0, bytes, start, end);
  }
}

function goawayFrame(c: Http2Connection): void {
  const { length } = c.frames;
  if (length < 8) {
    c.fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent GOAWAY frame with incorrect length ${length}`);
  } else if (hasStream(c, 'GOAWAY', false)) {
    c.idleFrame();
  }
}
