/** How many bytes the UTF-8 character at `at` of a byte string has; 0 when there is no valid one. nginx: ngx_utf8_decode. */
function sequenceLength(bytes: string, at: number): number {
  const first = bytes.charCodeAt(at);
  if (first < 0x80) {
    return 1;
  }
  const length = first >= 0xf8 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length === 0 || at + length > bytes.length) {
    return 0;
  }
  let code = first & (0xff >> (length + 1));
  for (let i = 1; i < length; i++) {
    const byte = bytes.charCodeAt(at + i);
    if (byte < 0x80) {
      return 0;
    }
    code = (code << 6) | (byte & 0x3f);
  }
  const least = length === 4 ? 0x10000 : length === 3 ? 0x800 : 0x80;
  return code >= least && code <= 0x10ffff ? length : 0;
}

/** Number of UTF-8 characters in a byte string; of one that is not UTF-8, the number of bytes. nginx: ngx_utf8_length. */
export function utf8Length(bytes: string): number {
  let count = 0;
  for (let at = 0; at < bytes.length; count++) {
    const length = sequenceLength(bytes, at);
    if (length === 0) {
      return bytes.length;
    }
    at += length;
  }
  return count;
}

/** The first `count` UTF-8 characters of a byte string. nginx: ngx_utf8_cpystrn. */
export function clipUtf8(bytes: string, count: number): string {
  let at = 0;
  for (let i = 0; i < count && at < bytes.length; i++) {
    const length = sequenceLength(bytes, at);
    if (length === 0) {
      break;
    }
    at += length;
  }
  return bytes.slice(0, at);
}
