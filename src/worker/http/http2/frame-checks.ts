import { ERROR_CODE } from '../http2-frames/protocol.js';
import type { Http2Connection } from './connection.js';

/** Whether the frame at hand has a stream, as it must, or has none; otherwise the connection is given up. */
export function hasStream(c: Http2Connection, name: string, must: boolean): boolean {
  if ((c.frames.streamId !== 0) === must) {
    return true;
  }
  c.fail(ERROR_CODE.PROTOCOL_ERROR, `client sent ${name} frame with incorrect identifier`);
  return false;
}

/** Whether the frame at hand is as long as it must be; otherwise the connection is given up. */
export function sized(c: Http2Connection, name: string, length: number): boolean {
  if (c.frames.length === length) {
    return true;
  }
  c.fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent ${name} frame with incorrect length ${c.frames.length}`);
  return false;
}
