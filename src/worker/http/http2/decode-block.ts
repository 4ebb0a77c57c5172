import type { FieldSink } from '../fields/field-sink.js';
import { BLOCK_CUT_OFF, BLOCK_INVALID, BLOCK_NAMELESS, BLOCK_TOO_LARGE, DECODED } from '../http2-frames/hpack/decoder.js';
import { ERROR_CODE } from '../http2-frames/protocol.js';
import type { Http2Connection } from './connection.js';

/** What ends a connection whose header block cannot be decoded; the codes are nginx's. */
const decodingErrors: { readonly [code: number]: number } = {
  [BLOCK_INVALID]: ERROR_CODE.COMPRESSION_ERROR,
  [BLOCK_TOO_LARGE]: ERROR_CODE.ENHANCE_YOUR_CALM,
  [BLOCK_NAMELESS]: ERROR_CODE.PROTOCOL_ERROR,
  [BLOCK_CUT_OFF]: ERROR_CODE.FRAME_SIZE_ERROR,
};

/** Decodes a block, which keeps the table as the client has it; false if the connection was given up for it. */
export function decodeBlock(c: Http2Connection, bytes: Buffer, start: number, end: number, sink: FieldSink): boolean {
  const code = c.decoder.decode(bytes, start, end, c.fieldLimits, sink);
  if (code === DECODED) {
    return true;
  }
  c.fail(decodingErrors[code]!, c.decoder.problem);
  return false;
}
