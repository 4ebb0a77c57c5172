import { INFO } from '../../../shared/log/level.js';
import type { FieldSink } from '../fields/field-sink.js';
import { HOPELESS, lookAhead } from '../http2-frames/hpack/look-ahead.js';
import { ERROR_CODE, FLAG, FRAME } from '../http2-frames/protocol.js';
import { TrailerCheck } from '../multiplexed/trailer-check.js';
import type { Http2Connection } from './connection.js';
import { decodeBlock } from './decode-block.js';
import { mayOpenStream, openStream } from './open-stream.js';
import { takeDependency } from './priority-frames.js';
import { breakStream, resetAgain } from './reset-frames.js';

const ignored: FieldSink = { field() {} };
const trailerCheck = new TrailerCheck();

/** A HEADERS frame is not whole: what is wrong with its beginning ends the connection now. */
export function lookIntoHeaders(c: Http2Connection): void {
  const { held, flags } = c.frames;
  const { block } = c;
  if (block.seen === 0) {
    block.seen = ((flags & FLAG.PADDED) !== 0 ? 1 : 0) + ((flags & FLAG.PRIORITY) !== 0 ? 5 : 0);
  }
  if (held === null || held.length <= block.seen) {
    return;
  }
  const seen = lookAhead(held, block.seen, held.length);
  if (seen === HOPELESS) {
    c.fail(ERROR_CODE.COMPRESSION_ERROR, 'client sent header block with too long number');
  } else {
    block.seen = seen;
  }
}

/** A header section begins. nginx: ngx_http_v2_state_headers. */
export function headersFrame(c: Http2Connection): void {
  const { streams, block } = c;
  const { bytes, flags, streamId, length } = c.frames;
  let { start, end } = c.frames;
  const prioritized = (flags & FLAG.PRIORITY) !== 0;
  const extra = ((flags & FLAG.PADDED) !== 0 ? 1 : 0) + (prioritized ? 5 : 0);
  if (length < extra) {
    c.fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent HEADERS frame with incorrect length ${length}`);
    return;
  }
  if (length === extra) {
    c.fail(ERROR_CODE.FRAME_SIZE_ERROR, 'client sent HEADERS frame with empty header block');
    return;
  }
  if ((flags & FLAG.PADDED) !== 0) {
    const padding = bytes[start++]!;
    end -= padding;
    if (end < start + extra - 1) {
      c.fail(ERROR_CODE.PROTOCOL_ERROR, `client sent padded HEADERS frame with incorrect length: ${length - extra}, padding: ${padding}`);
      return;
    }
  }
  if (prioritized) {
    start += 5;
  }
  const trailers = streamId <= streams.lastId && streams.mayHaveTrailers(streamId);
  if (streamId % 2 === 0 || (streamId <= streams.lastId && !trailers)) {
    c.fail(ERROR_CODE.PROTOCOL_ERROR, `client sent HEADERS frame with incorrect identifier ${streamId}, the last was ${streams.lastId}`);
    return;
  }
  if (prioritized && !takeDependency(c, 'HEADERS', bytes, start - 5)) {
    return;
  }
  block.begin(streamId, (flags & FLAG.END_STREAM) !== 0, trailers);
  c.flood.beginSection();
  if ((flags & FLAG.END_HEADERS) !== 0) {
    section(c, bytes, start, end);
  } else {
    addToBlock(c, bytes, start, end);
  }
}

/** A header section goes on. nginx: ngx_http_v2_handle_continuation. */
export function continuationFrame(c: Http2Connection): void {
  const { block } = c;
  const { bytes, start, end, flags, streamId } = c.frames;
  if (!block.open) {
    c.fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent unexpected CONTINUATION frame');
  } else if (block.streamId !== streamId) {
    c.fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent CONTINUATION frame with incorrect identifier');
  } else if (!c.flood.continued()) {
    c.fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'client sent too many CONTINUATION frames');
  } else if (addToBlock(c, bytes, start, end) && (flags & FLAG.END_HEADERS) !== 0) {
    const whole = block.take();
    section(c, whole, 0, whole.length);
  }
}

function addToBlock(c: Http2Connection, bytes: Buffer, start: number, end: number): boolean {
  if (c.block.add(bytes, start, end, c.fieldLimits.total)) {
    return true;
  }
  c.fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'client sent too large header');
  return false;
}

/** A header section is whole. */
function section(c: Http2Connection, bytes: Buffer, start: number, end: number): void {
  const { block, streams } = c;
  const { streamId, ended, trailers, refused } = block;
  block.end();
  if (trailers) {
    trailerSection(c, streamId, ended, bytes, start, end);
    return;
  }
  streams.lastId = streamId;
  const refusal = refused ? -1 : mayOpenStream(c, ended);
  if (refusal === 0 && !c.leaving) {
    openStream(c, streamId, ended, bytes, start, end);
    return;
  }
  if (!decodeBlock(c, bytes, start, end, ignored) || refusal === -1 || c.leaving) {
    return;
  }
  if (c.flood.refuse()) {
    c.sending.output.numbers(FRAME.RST_STREAM, streamId, refusal);
  } else {
    c.fail(ERROR_CODE.NO_ERROR, 'client sent too many refused streams');
  }
}

/** The fields behind a body: they end the stream, and nobody wants them. */
function trailerSection(c: Http2Connection, streamId: number, ended: boolean, bytes: Buffer, start: number, end: number): void {
  const stream = c.streams.get(streamId);
  trailerCheck.malformed = false;
  if (!decodeBlock(c, bytes, start, end, trailerCheck)) {
    return;
  }
  if (ended && !trailerCheck.malformed) {
    if (stream === undefined) {
      c.streams.closed.addEnded(streamId);
    } else {
      stream.inputEnded();
    }
    return;
  }
  c.note(INFO, 'client sent invalid trailers');
  if (stream === undefined) {
    resetAgain(c, streamId, ERROR_CODE.PROTOCOL_ERROR);
  } else {
    breakStream(c, stream, ERROR_CODE.PROTOCOL_ERROR);
  }
}
