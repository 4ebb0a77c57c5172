import type { Http2Endpoint, Http2Role } from './endpoint.js';
import { READ_AGAIN, READ_BAD_PADDING, READ_DATA, READ_DATA_HEAD, READ_FRAME, READ_HEADERS_HEAD, READ_TOO_LONG } from './frame-reader.js';
import { ERROR_CODE, FRAME } from './protocol.js';
import { continuationFrame, headersFrame } from './section-frames.js';
import { settingsFrame } from './settings.js';
import { windowUpdateFrame } from './window-update.js';

/** Reads one frame, or a piece of one, and has its role do what it says. Returns the first byte not used. nginx: ngx_http_v2_state_head. */
export function readFrame<E extends Http2Endpoint>(role: Http2Role<E>, e: E, bytes: Buffer, at: number, end: number): number {
  const { frames, block } = e;
  const code = frames.read(bytes, at, end);
  if (code === READ_AGAIN) {
    if (block.streamId !== 0 && !block.open) {
      role.headersPart(e);
    }
    return frames.next;
  }
  if (block.open && frames.type !== FRAME.CONTINUATION) {
    e.fail(ERROR_CODE.PROTOCOL_ERROR, role.faults.withinSection(frames.type));
    return end;
  }
  switch (code) {
    case READ_FRAME:
      wholeFrame(role, e);
      break;
    case READ_DATA_HEAD:
      role.dataHead(e);
      break;
    case READ_DATA:
      role.data(e);
      break;
    case READ_HEADERS_HEAD:
      block.streamId = frames.streamId;
      break;
    case READ_BAD_PADDING:
      e.fail(
        frames.length === 0 ? ERROR_CODE.FRAME_SIZE_ERROR : ERROR_CODE.PROTOCOL_ERROR,
        role.faults.paddedData(frames.length, frames.padding),
      );
      break;
    case READ_TOO_LONG:
      role.tooLong(e);
      break;
    default:
      role.unknown(e);
      break;
  }
  return frames.next;
}

/** A whole frame that is no DATA. */
function wholeFrame<E extends Http2Endpoint>(role: Http2Role<E>, e: E): void {
  switch (e.frames.type) {
    case FRAME.HEADERS:
      headersFrame(role, e);
      break;
    case FRAME.CONTINUATION:
      continuationFrame(role, e);
      break;
    case FRAME.PRIORITY:
      role.priority(e);
      break;
    case FRAME.RST_STREAM:
      role.rstStream(e);
      break;
    case FRAME.SETTINGS:
      settingsFrame(role, e);
      break;
    case FRAME.PUSH_PROMISE:
      role.pushPromise(e);
      break;
    case FRAME.PING:
      role.ping(e);
      break;
    case FRAME.GOAWAY:
      role.goaway(e);
      break;
    case FRAME.WINDOW_UPDATE:
      windowUpdateFrame(role, e);
      break;
    default:
      role.priorityUpdate(e);
      break;
  }
}
