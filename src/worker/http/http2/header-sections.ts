import { INFO } from '../../../shared/log/level.js';
import type { FieldSink } from '../fields/field-sink.js';
import { HOPELESS, lookAhead } from '../http2-frames/hpack/look-ahead.js';
import { ERROR_CODE, FLAG, FRAME } from '../http2-frames/protocol.js';
import { beforeBlock } from '../http2-frames/section-frames.js';
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
    block.seen = beforeBlock(flags);
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

/**
 * Begins a header section, of a new stream or behind a body. `dependency`: where what it says of its stream's stands; -1: it says nothing.
 * False if that ended the connection.
 */
export function beginSection(c: Http2Connection, dependency: number): boolean {
  const { streams, block } = c;
  const { bytes, flags, streamId } = c.frames;
  const trailers = streamId <= streams.lastId && streams.mayHaveTrailers(streamId);
  if (streamId % 2 === 0 || (streamId <= streams.lastId && !trailers)) {
    c.fail(ERROR_CODE.PROTOCOL_ERROR, `client sent HEADERS frame with incorrect identifier ${streamId}, the last was ${streams.lastId}`);
    return false;
  }
  if (dependency !== -1 && !takeDependency(c, 'HEADERS', bytes, dependency)) {
    return false;
  }
  block.begin(streamId, (flags & FLAG.END_STREAM) !== 0, trailers);
  c.flood.beginSection();
  return true;
}

/** A header section is whole. */
export function section(c: Http2Connection, bytes: Buffer, start: number, end: number): void {
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
    c.output.numbers(FRAME.RST_STREAM, streamId, refusal);
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
