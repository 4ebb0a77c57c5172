import { DEFAULT_FRAME, ERROR_CODE, MAX_FRAME, MAX_WINDOW, SETTING } from '../../http/http2-frames/protocol.js';
import { acknowledge, control } from './backend-limits.js';
import { breakStream, frameStream } from './frame-stream.js';
import type { SharedConnection } from './shared-connection.js';

/** Counts a SETTINGS frame; the first one ends what was supposed before it. False if that ended the connection. */
export function maySet(c: SharedConnection): boolean {
  if (!control(c, 'SETTINGS') || !acknowledge(c, 'SETTINGS')) {
    return false;
  }
  if (!c.settled) {
    c.mostStreams = Number.POSITIVE_INFINITY;
  }
  return true;
}

/** Takes one parameter of what the backend says that it takes; false if that ended the connection. */
export function setting(c: SharedConnection, id: number, value: number): boolean {
  switch (id) {
    case SETTING.INITIAL_WINDOW_SIZE:
      return value <= MAX_WINDOW || tooLargeWindow(c, value);
    case SETTING.MAX_CONCURRENT_STREAMS:
      c.mostStreams = value;
      return true;
    case SETTING.MAX_FRAME_SIZE:
      return (value >= DEFAULT_FRAME && value <= MAX_FRAME) || invalid(c, 'frame size', value);
    case SETTING.HEADER_TABLE_SIZE:
      c.section.encoder.resize(value);
      return true;
    case SETTING.ENABLE_CONNECT_PROTOCOL:
      // What was said once holds (RFC 8441, 3).
      if (value > 1 || (value === 0 && c.takesTunnels)) {
        return invalid(c, 'extended connect value', value);
      }
      c.takesTunnels = value === 1;
      return true;
    default:
      return true;
  }
}

function invalid(c: SharedConnection, what: string, value: number): false {
  c.fail(ERROR_CODE.PROTOCOL_ERROR, `upstream sent settings frame with invalid ${what}: ${value}`);
  return false;
}

function tooLargeWindow(c: SharedConnection, value: number): false {
  c.fail(ERROR_CODE.FLOW_CONTROL_ERROR, `upstream sent settings frame with too large initial window size: ${value}`);
  return false;
}

/** The backend has said what it takes: requests that waited for its first word go on. */
export function settingsTaken(c: SharedConnection): void {
  if (c.settled) {
    return;
  }
  c.settled = true;
  for (const stream of c.waiting) {
    c.sendSoon(stream);
  }
}

/** Streams may have `value` bytes at first from now on, those that are open, too; false if that ended the connection. */
export function changeWindows(c: SharedConnection, value: number): boolean {
  const delta = value - c.initialWindow;
  c.initialWindow = value;
  for (const stream of c.streams.all()) {
    if (!stream.sendWindow.grow(delta)) {
      return tooLargeWindow(c, value);
    }
    if (stream.mayUseRoom) {
      c.sendSoon(stream);
    }
  }
  return true;
}

/** The backend makes room for all streams together. */
export function roomForAll(c: SharedConnection, room: number): void {
  if (!c.sendWindow.grow(room)) {
    c.fail(ERROR_CODE.FLOW_CONTROL_ERROR, 'upstream sent too large window update');
    return;
  }
  for (const stream of c.starved.splice(0)) {
    c.sendSoon(stream);
  }
}

/** The backend makes room for the frame's stream. */
export function roomForStream(c: SharedConnection, room: number): void {
  const stream = frameStream(c, 'frame');
  if (stream === undefined) {
    return;
  }
  if (!stream.sendWindow.grow(room)) {
    breakStream(stream, 'upstream sent too large window update');
  } else if (stream.mayUseRoom) {
    c.sendSoon(stream);
  }
}
