import { Code } from './errors.js';
import { Frame } from './frame-reader.js';
import { putInt } from './varint.js';

const LONGEST_REASON = 120;

/** CONNECTION_CLOSE. Before the handshake is complete nothing is told of the application (RFC 9000, 10.2.3). */
export function closeFrame(application: boolean, complete: boolean, code: number, reason: string, frame: number): Buffer {
  const text = Buffer.from(application && !complete ? '' : reason, 'latin1').subarray(0, LONGEST_REASON);
  const into = Buffer.alloc(64 + text.length);
  let at = 0;
  if (application && complete) {
    into[at++] = Frame.CLOSE_APPLICATION;
    at = putInt(into, at, code);
  } else {
    into[at++] = Frame.CLOSE;
    at = putInt(into, at, application ? Code.APPLICATION : code);
    at = putInt(into, at, application ? 0 : Math.min(frame, Number.MAX_SAFE_INTEGER));
  }
  at = putInt(into, at, text.length);
  into.set(text, at);
  return into.subarray(0, at + text.length);
}
