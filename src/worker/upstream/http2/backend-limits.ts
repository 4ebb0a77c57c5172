import { ERROR_CODE } from '../../http/http2-frames/protocol.js';
import { lower } from './backend-faults.js';
import type { SharedConnection } from './shared-connection.js';

/** Counts a frame that brings nothing by itself; false if that was one too many. */
export function control(c: SharedConnection, what: string): boolean {
  return c.guard.control() || tooMany(c, what);
}

/** Counts an answer that the backend has not read yet; false if that was one too many. */
export function acknowledge(c: SharedConnection, what: string): boolean {
  return c.guard.acknowledge() || tooMany(c, what);
}

function tooMany(c: SharedConnection, what: string): false {
  c.fail(ERROR_CODE.ENHANCE_YOUR_CALM, `upstream sent too many ${lower(what)} frames`);
  return false;
}

/** The frame at hand is longer than we take. */
export function tooLong(c: SharedConnection): void {
  c.fail(ERROR_CODE.FRAME_SIZE_ERROR, `upstream sent too large http2 frame: ${c.frames.length}`);
}
