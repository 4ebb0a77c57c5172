import { hasStream, sized } from '../../http/http2-frames/endpoint.js';
import { ERROR_CODE, MAX_WINDOW } from '../../http/http2-frames/protocol.js';
import { enter, leave } from '../../task/at-work.js';
import { backendFaults } from './backend-faults.js';
import type { Http2BackendStream } from './backend-stream.js';
import { breakStream, frameStream } from './frame-stream.js';
import { Http2Refused } from './http2-user.js';
import type { SharedConnection } from './shared-connection.js';

/** The backend gives a stream up. */
export function rstStreamFrame(c: SharedConnection): void {
  const { bytes, start } = c.frames;
  if (!sized(backendFaults, c, 'RST_STREAM', 4)) {
    return;
  }
  const stream = frameStream(c, 'frame');
  if (stream === undefined) {
    return;
  }
  const code = bytes.readUInt32BE(start);
  const problem = `upstream rejected request with error ${code}`;
  const complete = stream.inClosed;
  if (stream.wasReset) {
    breakStream(stream, `upstream sent frame for closed stream ${stream.id}`);
    return;
  }
  const before = enter(stream.owner.r);
  stream.resetByPeer();
  if (code === ERROR_CODE.REFUSED_STREAM && !stream.user.answered) {
    stream.failed(new Http2Refused(problem));
  } else if (code !== ERROR_CODE.NO_ERROR || !complete) {
    stream.inputBroken(problem, code);
  }
  leave(before);
}

/** The backend takes no further streams: those above the last that it names go elsewhere, the others finish. */
export function goawayFrame(c: SharedConnection): void {
  const { bytes, start, length } = c.frames;
  if (!hasStream(backendFaults, c, 'GOAWAY', false)) {
    return;
  }
  if (length < 8) {
    c.fail(ERROR_CODE.FRAME_SIZE_ERROR, backendFaults.length('GOAWAY', length));
    return;
  }
  const last = bytes.readUInt32BE(start) & MAX_WINDOW;
  const problem = `upstream sent goaway with error ${bytes.readUInt32BE(start + 4)}`;
  c.retired = true;
  const refused = c.streams.all().filter((stream) => stream.id > last);
  for (const stream of [...refused, ...c.waiting]) {
    refuse(stream, problem);
  }
  if (c.size === 0) {
    c.close();
  }
}

function refuse(stream: Http2BackendStream, problem: string): void {
  const before = enter(stream.owner.r);
  stream.resetByPeer();
  if (stream.user.answered) {
    stream.inputBroken(problem);
  } else {
    stream.failed(new Http2Refused(problem));
  }
  leave(before);
}
