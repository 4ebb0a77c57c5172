import { type Http2Endpoint, type Http2Role, hasStream } from './endpoint.js';
import type { Output } from './output.js';
import { ERROR_CODE, FLAG, FRAME, SETTING } from './protocol.js';

/** Sends SETTINGS with these values. */
export function writeSettings(output: Output, said: readonly (readonly [id: number, value: number])[]): void {
  const bytes = output.frame(FRAME.SETTINGS, 0, 0, said.length * 6);
  for (const [id, value] of said) {
    bytes.writeUInt16BE(id, output.length);
    output.length = bytes.writeUInt32BE(value, output.length + 2);
  }
}

/** The other end says what it takes, or that it has heard what this one takes. nginx: ngx_http_v2_state_settings. */
export function settingsFrame<E extends Http2Endpoint>(role: Http2Role<E>, e: E): void {
  const { flags, length } = e.frames;
  if (!hasStream(role.faults, e, 'SETTINGS', false)) {
    return;
  }
  if ((flags & FLAG.ACK) !== 0) {
    if (length === 0) {
      role.settingsHeard(e);
    } else {
      e.fail(ERROR_CODE.FRAME_SIZE_ERROR, role.faults.acknowledgement(length));
    }
    return;
  }
  if (length % 6 !== 0) {
    e.fail(ERROR_CODE.FRAME_SIZE_ERROR, role.faults.length('SETTINGS', length));
    return;
  }
  if (!role.maySet(e)) {
    return;
  }
  const window = readSettings(role, e);
  if (window < 0 || (window !== e.initialWindow && !role.changeWindows(e, window))) {
    return;
  }
  e.output.frame(FRAME.SETTINGS, FLAG.ACK, 0, 0);
  role.settingsTaken(e);
}

/**
 * Has each value of the frame at hand taken, until one is refused: then this returns -1. Otherwise it returns what the other end lets
 * streams send at first: however often it is there, only the last value means something.
 */
function readSettings<E extends Http2Endpoint>(role: Http2Role<E>, e: E): number {
  const { bytes, start, end } = e.frames;
  let window = e.initialWindow;
  for (let at = start; at < end; at += 6) {
    const id = bytes.readUInt16BE(at);
    const value = bytes.readUInt32BE(at + 2);
    if (!role.setting(e, id, value)) {
      return -1;
    }
    if (id === SETTING.INITIAL_WINDOW_SIZE) {
      window = value;
    }
  }
  return window;
}
