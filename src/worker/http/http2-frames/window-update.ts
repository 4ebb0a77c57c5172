import { type Http2Endpoint, type Http2Role, sized } from './endpoint.js';
import { ERROR_CODE, MAX_WINDOW } from './protocol.js';

/** The other end makes room, on a stream or on all together. nginx: ngx_http_v2_state_window_update. */
export function windowUpdateFrame<E extends Http2Endpoint>(role: Http2Role<E>, e: E): void {
  const { bytes, start, streamId } = e.frames;
  if (!sized(role.faults, e, 'WINDOW_UPDATE', 4)) {
    return;
  }
  const room = bytes.readUInt32BE(start) & MAX_WINDOW;
  if (room === 0) {
    e.fail(ERROR_CODE.PROTOCOL_ERROR, role.faults.noRoom);
  } else if (!role.control(e, 'WINDOW_UPDATE')) {
    return;
  } else if (streamId === 0) {
    role.roomForAll(e, room);
  } else {
    role.roomForStream(e, room);
  }
}
