import { BLOCK_TOO_LARGE, DECODED } from '../../http/http2-frames/hpack/decoder.js';
import { ERROR_CODE, FLAG } from '../../http/http2-frames/protocol.js';
import { enter, leave } from '../../task/at-work.js';
import { control } from './backend-limits.js';
import type { Http2BackendStream } from './backend-stream.js';
import { frameStream } from './frame-stream.js';
import type { SharedConnection } from './shared-connection.js';

/** CONTINUATION frames of one header section. */
const CONTINUATIONS = 128;

/** Begins a header section, also of a stream that is over; false if that ended the connection. */
export function beginSection(c: SharedConnection): boolean {
  const { streamId, flags } = c.frames;
  if (frameStream(c, 'frame') === undefined && c.closed) {
    return false;
  }
  c.block.begin(streamId, (flags & FLAG.END_STREAM) !== 0, false);
  c.continuations = 0;
  return true;
}

/** Counts a CONTINUATION frame; false if it is one too many. */
export const continued = (c: SharedConnection): boolean => ++c.continuations <= CONTINUATIONS;

/** A header section is whole. That of a stream which is over need not be read: no section depends on another one. */
export function section(c: SharedConnection, bytes: Buffer, start: number, end: number): void {
  const { streamId, ended } = c.block;
  c.block.end();
  const stream = c.streams.get(streamId);
  if (stream === undefined) {
    control(c, 'HEADERS');
    return;
  }
  const before = enter(stream.owner.r);
  readSection(c, stream, ended, bytes, start, end);
  leave(before);
  // Early hints bring nothing that a backend could not repeat forever.
  if (stream.user.answered) {
    c.guard.useful();
  } else {
    control(c, 'HEADERS');
  }
}

function readSection(c: SharedConnection, stream: Http2BackendStream, ended: boolean, bytes: Buffer, start: number, end: number): void {
  const { user } = stream;
  if (stream.inClosed) {
    stream.inputBroken(`upstream sent frame for closed stream ${stream.id}`);
    return;
  }
  const trailers = user.answered;
  user.beginSection();
  const limit = user.headLimit;
  const code = c.decoder.decode(bytes, start, end, { field: limit, total: limit }, user);
  if (code === BLOCK_TOO_LARGE) {
    user.sectionMalformed();
    stream.inputBroken(c.decoder.problem);
  } else if (code !== DECODED) {
    c.fail(ERROR_CODE.COMPRESSION_ERROR, c.decoder.problem);
  } else if (!trailers) {
    user.endSection(ended);
    stream.headRead(bytes.subarray(start, end), ended);
  } else if (ended) {
    user.endSection(true);
    stream.inputEnded();
  } else {
    stream.inputBroken('upstream sent trailer without end stream flag');
  }
}
