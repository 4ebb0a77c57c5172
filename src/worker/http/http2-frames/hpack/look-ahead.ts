import { NUMBER_BYTES } from './decoder.js';

/** {@link lookAhead}: a number in the block is too long, so that nothing good can come of it any more. */
export const HOPELESS = -1;
const NOT_WHOLE = 0;

/**
 * Looks at what came of a block from `from` on, where a field starts, so that a client hears of its mistake though it sends no more.
 * Returns the start of the first field that is not whole, from where to go on, or HOPELESS.
 */
export function lookAhead(bytes: Uint8Array, from: number, end: number): number {
  let field = from;
  for (;;) {
    const after = fieldEnd(bytes, field, end);
    if (after === HOPELESS) {
      return HOPELESS;
    }
    if (after === NOT_WHOLE) {
      return field;
    }
    field = after;
  }
}

function fieldEnd(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end) {
    return NOT_WHOLE;
  }
  const byte = bytes[start]!;
  const literal = byte < 0x80 && (byte < 0x20 || byte >= 0x40);
  const prefix = byte >= 0x80 ? 0x7f : byte >= 0x40 ? 0x3f : byte >= 0x20 ? 0x1f : 0x0f;
  let at = numberEnd(bytes, start, end, prefix);
  if (at <= 0 || !literal) {
    return at;
  }
  if ((byte & prefix) === 0) {
    at = stringEnd(bytes, at, end);
  }
  return at <= 0 ? at : stringEnd(bytes, at, end);
}

function stringEnd(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end) {
    return NOT_WHOLE;
  }
  const at = numberEnd(bytes, start, end, 0x7f);
  if (at <= 0) {
    return at;
  }
  let length = bytes[start]! & 0x7f;
  for (let i = start + 1, shift = 0; i < at; i++, shift += 7) {
    length += (bytes[i]! & 0x7f) << shift;
  }
  return at + length > end ? NOT_WHOLE : at + length;
}

/** Where a number ends. */
function numberEnd(bytes: Uint8Array, start: number, end: number, prefix: number): number {
  if ((bytes[start]! & prefix) !== prefix) {
    return start + 1;
  }
  for (let i = start + 1; i < start + NUMBER_BYTES; i++) {
    if (i >= end) {
      return NOT_WHOLE;
    }
    if (bytes[i]! < 0x80) {
      return i + 1;
    }
  }
  return HOPELESS;
}
