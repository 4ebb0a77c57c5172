/** What a `Content-Range` says: bytes from `start` up to, not including, `end`; `length` of the whole, -1 when it is not told. */
export interface ContentRange {
  readonly start: number;
  readonly end: number;
  readonly length: number;
}

/**
 * Reads a `Content-Range`; undefined for one that cannot be, or that has no bytes: no slice would ever be the last. nginx:
 * ngx_http_slice_parse_content_range.
 */
export function parseContentRange(text: string | undefined): ContentRange | undefined {
  const found = text === undefined ? null : /^bytes +(\d+) *- *(\d+) *\/ *(\d+|\*) *$/.exec(text);
  if (found === null) {
    return undefined;
  }
  const range = { start: Number(found[1]), end: Number(found[2]) + 1, length: found[3] === '*' ? -1 : Number(found[3]) };
  const safe = Number.isSafeInteger(range.end) && Number.isSafeInteger(range.length);
  return safe && range.start < range.end ? range : undefined;
}
