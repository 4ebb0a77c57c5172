import { hasStream, sized } from '../http2-frames/endpoint.js';
import { ERROR_CODE } from '../http2-frames/protocol.js';
import { clientFaults } from './client-faults.js';
import type { Http2Connection } from './connection.js';

/** The longest `priority` text of a frame that is read. */
const LONGEST = 256;

/** A stream's place among others, by the rules of RFC 7540. nginx: ngx_http_v2_state_priority. */
export function priorityFrame(c: Http2Connection): void {
  const { bytes, start } = c.frames;
  if (!sized(clientFaults, c, 'PRIORITY', 5) || !hasStream(clientFaults, c, 'PRIORITY', true) || !mayPrioritize(c)) {
    return;
  }
  takeDependency(c, 'PRIORITY', bytes, start);
}

function mayPrioritize(c: Http2Connection): boolean {
  if (c.flood.prioritized()) {
    return true;
  }
  c.fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'client sent too many PRIORITY frames');
  return false;
}

/** Takes what a PRIORITY or HEADERS frame says of its stream's dependency; false if that ended the connection. */
export function takeDependency(c: Http2Connection, name: string, bytes: Buffer, at: number): boolean {
  const { streamId } = c.frames;
  const said = bytes.readUInt32BE(at);
  const on = said & 0x7fffffff;
  if (on === streamId) {
    c.fail(ERROR_CODE.PROTOCOL_ERROR, `client sent ${name} frame for stream ${streamId} with incorrect dependency`);
    return false;
  }
  const tree = c.streams.dependencies();
  tree.depend(streamId, on, said >>> 31 === 1, bytes[at + 4]! + 1);
  if (c.streams.has(streamId)) {
    tree.opened(streamId);
  }
  return true;
}

/** A stream's urgency changes (RFC 9218, 7.1). */
export function priorityUpdateFrame(c: Http2Connection): void {
  const { bytes, start, end } = c.frames;
  if (!hasStream(clientFaults, c, 'PRIORITY_UPDATE', false)) {
    return;
  }
  if (end - start < 4) {
    c.fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent PRIORITY_UPDATE frame with incorrect length ${end - start}`);
    return;
  }
  const id = bytes.readUInt32BE(start) & 0x7fffffff;
  if (id === 0) {
    c.fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent PRIORITY_UPDATE frame with incorrect identifier');
    return;
  }
  if (!mayPrioritize(c)) {
    return;
  }
  c.streams.get(id)?.prioritize(bytes.toString('latin1', start + 4, Math.min(end, start + 4 + LONGEST)));
}
