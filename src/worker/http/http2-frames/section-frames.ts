import type { Http2Endpoint, Http2Role } from './endpoint.js';
import { ERROR_CODE, FLAG } from './protocol.js';

/** Bytes of a stream's dependency (RFC 9113, 6.2). */
const DEPENDENCY = 5;

/** How many bytes stand before the block of a HEADERS frame. */
export const beforeBlock = (flags: number): number =>
  ((flags & FLAG.PADDED) === 0 ? 0 : 1) + ((flags & FLAG.PRIORITY) === 0 ? 0 : DEPENDENCY);

/** A header section begins. nginx: ngx_http_v2_state_headers. */
export function headersFrame<E extends Http2Endpoint>(role: Http2Role<E>, e: E): void {
  const { bytes, flags, length, start } = e.frames;
  let { end } = e.frames;
  const before = beforeBlock(flags);
  if (length < before) {
    e.fail(ERROR_CODE.FRAME_SIZE_ERROR, role.faults.length('HEADERS', length));
    return;
  }
  if (length === before && role.faults.emptyBlock !== undefined) {
    e.fail(ERROR_CODE.FRAME_SIZE_ERROR, role.faults.emptyBlock);
    return;
  }
  if ((flags & FLAG.PADDED) !== 0) {
    const padding = bytes[start]!;
    if (padding > length - before) {
      e.fail(ERROR_CODE.PROTOCOL_ERROR, role.faults.paddedHeaders(length - before, padding));
      return;
    }
    end -= padding;
  }
  const blockStart = start + before;
  if (!role.beginSection(e, (flags & FLAG.PRIORITY) === 0 ? -1 : blockStart - DEPENDENCY)) {
    return;
  }
  if ((flags & FLAG.END_HEADERS) !== 0) {
    role.section(e, bytes, blockStart, end);
  } else {
    addToBlock(role, e, bytes, blockStart, end);
  }
}

/** A header section goes on. nginx: ngx_http_v2_handle_continuation. */
export function continuationFrame<E extends Http2Endpoint>(role: Http2Role<E>, e: E): void {
  const { block } = e;
  const { bytes, start, end, flags, streamId } = e.frames;
  if (!block.open) {
    e.fail(ERROR_CODE.PROTOCOL_ERROR, role.faults.strayContinuation);
  } else if (block.streamId !== streamId) {
    e.fail(ERROR_CODE.PROTOCOL_ERROR, role.faults.otherContinuation);
  } else if (!role.continued(e)) {
    e.fail(ERROR_CODE.ENHANCE_YOUR_CALM, role.faults.manyContinuations);
  } else if (addToBlock(role, e, bytes, start, end) && (flags & FLAG.END_HEADERS) !== 0) {
    const whole = block.take();
    role.section(e, whole, 0, whole.length);
  }
}

function addToBlock<E extends Http2Endpoint>(role: Http2Role<E>, e: E, bytes: Buffer, start: number, end: number): boolean {
  if (e.block.add(bytes, start, end, e.longestSection)) {
    return true;
  }
  e.fail(ERROR_CODE.ENHANCE_YOUR_CALM, role.faults.largeSection);
  return false;
}
