import { INFO } from '../../../shared/log/level.js';
import { hasStream, sized } from '../http2-frames/endpoint.js';
import { ERROR_CODE, FRAME } from '../http2-frames/protocol.js';
import { clientFaults } from './client-faults.js';
import type { Http2Connection } from './connection.js';
import type { Http2Stream } from './stream.js';

/** The client gives a stream up. nginx: ngx_http_v2_state_rst_stream. */
export function rstStreamFrame(c: Http2Connection): void {
  const { bytes, start, streamId } = c.frames;
  if (!sized(clientFaults, c, 'RST_STREAM', 4) || !hasStream(clientFaults, c, 'RST_STREAM', true)) {
    return;
  }
  const stream = c.streams.get(streamId);
  if (stream === undefined) {
    if (c.streams.isIdle(streamId)) {
      c.fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent RST_STREAM frame for idle stream');
    } else if (c.idleFrame()) {
      c.streams.closed.addEnded(streamId);
    }
    return;
  }
  stream.request.log(INFO, resetText(streamId, bytes.readUInt32BE(start)));
  const enough = !c.flood.broken();
  stream.gone();
  if (enough) {
    tooManyBroken(c);
  }
}

function resetText(streamId: number, code: number): string {
  if (code === ERROR_CODE.CANCEL) {
    return `client canceled stream ${streamId}`;
  }
  return code === ERROR_CODE.INTERNAL_ERROR
    ? `client terminated stream ${streamId} due to internal error`
    : `client terminated stream ${streamId} with status ${code}`;
}

/** Ends a stream for what the client did to it. */
export function breakStream(c: Http2Connection, stream: Http2Stream, code: number): void {
  const enough = !c.flood.broken();
  stream.fail(code);
  if (enough) {
    tooManyBroken(c);
  }
}

/** Tells the client that it breaks the rules on a stream that is closed. */
export function resetAgain(c: Http2Connection, streamId: number, code: number): void {
  c.streams.closed.addEnded(streamId);
  c.output.numbers(FRAME.RST_STREAM, streamId, code);
  if (!c.flood.broken()) {
    tooManyBroken(c);
  }
}

function tooManyBroken(c: Http2Connection): void {
  c.fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'client broke off too many streams');
}
