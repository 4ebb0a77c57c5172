import { ERROR_CODE } from '../../http/http2-frames/protocol.js';
import { enter, leave } from '../../task/at-work.js';
import type { Http2BackendStream } from './backend-stream.js';
import type { SharedConnection } from './shared-connection.js';

/** The stream of the frame at hand; undefined if it is over, or was never there, which ends the connection. `what`: the frame's name. */
export function frameStream(c: SharedConnection, what: string): Http2BackendStream | undefined {
  const { streamId } = c.frames;
  const stream = c.streams.get(streamId);
  if (stream === undefined && (streamId > c.lastId || streamId % 2 === 0)) {
    c.fail(ERROR_CODE.PROTOCOL_ERROR, `upstream sent ${what} for unknown stream ${streamId}`);
  }
  return stream;
}

/** Ends a stream for what the backend did. */
export function breakStream(stream: Http2BackendStream, problem: string): void {
  const before = enter(stream.owner.r);
  stream.inputBroken(problem);
  leave(before);
}
