/** Bytes from `start` up to, not including, `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The default of `max_ranges`. */
export const UNLIMITED = 0x7fffffff;

const DIGITS = /[0-9]+/y;
/** The largest 64-bit number of C; nginx refuses greater ones. */
const LONGEST = '9223372036854775807';

/**
 * Reads what follows `bytes=` in a Range header, for a body of `length` bytes. Returns the ranges, 416 when none can be
 * had or the text is no list of ranges, or undefined to send the whole body. nginx: ngx_http_range_parse.
 */
export function parseRanges(text: string, length: number, maxRanges: number): ByteRange[] | 416 | undefined {
  const ranges: ByteRange[] = [];
  let total = 0;
  let at = 0;
  const number = (): number => {
    DIGITS.lastIndex = at;
    const digits = DIGITS.exec(text)?.[0].replace(/^0+(?=.)/, '');
    if (digits === undefined) {
      return -1;
    }
    at = DIGITS.lastIndex;
    return digits.length > LONGEST.length || (digits.length === LONGEST.length && digits > LONGEST) ? -1 : Number(digits);
  };
  const skipSpaces = (): void => {
    while (text.charCodeAt(at) === 32) {
      at++;
    }
  };
  const atEnd = (): boolean => at === text.length || text[at] === ',';
  for (;;) {
    let start = 0;
    let end: number;
    skipSpaces();
    const suffix = text[at] === '-';
    if (!suffix) {
      start = number();
      skipSpaces();
      if (start === -1 || text[at] !== '-') {
        return 416;
      }
    }
    at++;
    if (!suffix) {
      skipSpaces();
    }
    if (!suffix && atEnd()) {
      end = length;
    } else {
      end = number();
      skipSpaces();
      if (end === -1 || !atEnd()) {
        return 416;
      }
      if (suffix) {
        start = end < length ? length - end : 0;
        end = length;
      } else {
        end = Math.min(end + 1, length);
      }
    }
    if (start < end) {
      if (ranges.length === maxRanges) {
        return undefined;
      }
      ranges.push({ start, end });
      total += end - start;
    } else if (start === 0) {
      return undefined;
    }
    if (text[at] !== ',') {
      break;
    }
    at++;
  }
  if (ranges.length === 0) {
    return 416;
  }
  if (ranges.length === 1) {
    return ranges;
  }
  if (total > length) {
    return undefined;
  }
  // Many small ranges cost more than they save.
  if (maxRanges === UNLIMITED && total + ranges.length * 256 > length + 4096) {
    return undefined;
  }
  return ranges;
}
