import type { HeaderFilter } from '../../http/request/body-stage.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { HeaderSlot } from '../../http/syntax/header-names.js';
import { HTTP_10 } from '../../http/syntax/request-line.js';
import { OK, type Result } from '../../task/codes.js';
import { parseHttpDate } from '../../text/http-date.js';
import { type ByteRange, parseRanges } from './parse-ranges.js';

/** What the body filter has to cut out. */
export interface Cut {
  readonly ranges: readonly ByteRange[];
  /** Where the body that comes begins in the whole one. */
  readonly offset: number;
  /** Stands before each of several ranges, without its numbers. */
  readonly boundary: string;
  /** Bytes of the whole body. */
  readonly length: number;
}

/** The ranges that were granted to a request. */
export const cuts = contextSlot<Cut>();

/** Makes the filter for a location's `max_ranges`. nginx: ngx_http_range_header_filter. */
export function rangeHeader(maxRanges: number): HeaderFilter {
  return (r) => {
    const out = r.out;
    if (
      r.httpVersion < HTTP_10 ||
      out.status !== 200 ||
      (r !== r.main && !r.subrequestRanges) ||
      out.contentLength === -1 ||
      !out.allowRanges
    ) {
      return OK;
    }
    const range = r.head.known(HeaderSlot.range);
    if (range !== undefined && range.length >= 7 && /^bytes=/i.test(range) && isSameVersion(r)) {
      const ranges = parseRanges(range.slice(6), out.contentLength, r.singleRange ? 1 : maxRanges);
      if (ranges === 416) {
        return notSatisfiable(r);
      }
      if (ranges !== undefined) {
        out.status = 206;
        out.statusText = undefined;
        cuts.set(r, ranges.length === 1 ? oneRange(r, ranges) : severalRanges(r, ranges));
        return OK;
      }
    }
    out.acceptRanges = 'bytes';
    return OK;
  };
}

/** If-Range asks for the whole body unless it is still the same. */
function isSameVersion(r: Request): boolean {
  const condition = r.head.known(HeaderSlot.ifRange);
  if (condition === undefined) {
    return true;
  }
  if (condition.length >= 2 && condition.endsWith('"')) {
    return condition === r.out.etag;
  }
  return r.out.lastModified !== -1 && parseHttpDate(condition) === r.out.lastModified;
}

// nginx: ngx_http_range_singlepart_header.
function oneRange(r: Request, ranges: readonly ByteRange[]): Cut {
  const out = r.out;
  const { start, end } = ranges[0]!;
  const cut: Cut = { ranges, offset: out.contentOffset, boundary: '', length: out.contentLength };
  // A range that an upstream sent is replaced, in a line of its own at the end.
  out.contentRange = undefined;
  out.contentRange = `bytes ${start}-${end - 1}/${out.contentLength}`;
  out.contentLength = end - start;
  out.contentOffset = start;
  return cut;
}

/** The numbers of a part and the empty line after its header. */
export const partNumbers = ({ start, end }: ByteRange, length: number): string => `${start}-${end - 1}/${length}\r\n\r\n`;

/** `\r\n--` and the twenty digits of a boundary: the part of {@link Cut.boundary} that the end of the body repeats. */
export const BOUNDARY_MARK = 24;

const tenDigits = (): string => String(Math.floor(Math.random() * 1e10)).padStart(10, '0');

// nginx: ngx_http_range_multipart_header.
function severalRanges(r: Request, ranges: readonly ByteRange[]): Cut {
  const out = r.out;
  const digits = tenDigits() + tenDigits();
  let boundary = `\r\n--${digits}\r\n`;
  if (out.contentType !== '') {
    boundary += `Content-Type: ${out.contentType}${out.charset === '' ? '' : `; charset=${out.charset}`}\r\n`;
  }
  boundary += 'Content-Range: bytes ';
  const cut: Cut = { ranges, offset: out.contentOffset, boundary, length: out.contentLength };
  let length = BOUNDARY_MARK + 4;
  for (const range of ranges) {
    length += boundary.length + partNumbers(range, cut.length).length + range.end - range.start;
  }
  out.contentType = `multipart/byteranges; boundary=${digits}`;
  out.charset = '';
  out.contentLength = length;
  out.contentRange = undefined;
  return cut;
}

// nginx: ngx_http_range_not_satisfiable.
function notSatisfiable(r: Request): Result {
  const out = r.out;
  out.status = 416;
  out.contentRange = undefined;
  out.contentRange = `bytes */${out.contentLength}`;
  out.clearContentLength();
  return 416;
}
