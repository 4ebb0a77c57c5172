import { findKnownHeader, type KnownHeader } from './header-names.js';
import { allBut, NO_BYTES, type QuietBytes, quietBytes } from './quiet-bytes.js';

/** The line is not complete yet; nothing was found wrong so far. */
export const LINE_AGAIN = 0;
/** A header line was read; `next` is the byte after it. */
export const LINE_HEADER = 1;
/** The empty line that ends the header was read; `next` is the byte after it. */
export const LINE_END = 2;
/** The line breaks the grammar at `bad`. */
export const LINE_INVALID = 3;
/** A repeated status line of an upstream was read, which counts for nothing; `next` is the byte after it. */
export const LINE_IGNORED = 4;

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const SLASH = 0x2f;
const COLON = 0x3a;
const UNDERSCORE = 0x5f;

// The bytes with which a part of a line goes on. What is not good in a name but does not end it counts once the line is complete.
const QUIET_NAME = allBut(':\x7f').fill(0, 0, SPACE + 1);
const QUIET_VALUE = allBut('\0\r\n');
const QUIET_CR = quietBytes('\r');
const QUIET_IGNORED = allBut('\n');

/** Values of this length are looked at byte by byte. */
const SHORT = 64;

// 1 for the bytes that are good in a header name: letters, digits and "-".
const nameByte = new Uint8Array(256);
for (const c of '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') {
  nameByte[c.charCodeAt(0)] = 1;
}

/**
 * Scans one header line at a time and leaves the places of its parts in its fields (nginx: ngx_http_parse_header_line). It serves
 * requests, upstream responses, trailers and the header blocks of FastCGI. It keeps nothing between calls: an incomplete line is
 * scanned again from its start once more bytes have come that are not {@link quiet}.
 */
export class HeaderLine {
  /** Whether "_" may stand in a name. */
  underscores: boolean;
  nameStart = 0;
  nameEnd = 0;
  valueStart = 0;
  /** The end of the value without its trailing spaces. */
  valueEnd = 0;
  /** Whether the name has a byte which only `ignore_invalid_headers off` lets pass. */
  invalidName = false;
  /** The byte after the line, after LINE_HEADER, LINE_END and LINE_IGNORED. */
  next = 0;
  /** The place that error messages quote the line up to, after LINE_INVALID. */
  bad = 0;
  /** The bytes with which the line stays incomplete, after LINE_AGAIN. */
  quiet: QuietBytes = NO_BYTES;
  /** The name's entry in the table of known names, after LINE_HEADER. */
  known: KnownHeader | undefined = undefined;
  readonly #fromUpstream: boolean;
  #text = '';
  #base = 0;
  /** Whether a zero byte stands anywhere in the text; undefined while nobody asked. */
  #hasZero: boolean | undefined = undefined;

  /** `fromUpstream` allows for status lines among the headers, which some servers repeat. */
  constructor(underscores: boolean, fromUpstream: boolean) {
    this.underscores = underscores;
    this.#fromUpstream = fromUpstream;
  }

  /** The lines to come are in `text`, which begins at the offset `base` of their bytes. */
  begin(text: string, base: number): void {
    this.#text = text;
    this.#base = base;
    this.#hasZero = undefined;
  }

  /** Scans the line that starts at `pos`; `end` is where the bytes end that `begin` was given as text. */
  scan(bytes: Uint8Array, pos: number, end: number): number {
    this.nameStart = pos;
    this.invalidName = false;
    let i = pos;
    while (i < end && nameByte[bytes[i]!] === 1) {
      i++;
    }
    // Almost every line goes straight on to its value; whatever else stops the name is looked at closer.
    if (i === end || bytes[i] !== COLON || i === pos) {
      const code = this.#restOfName(bytes, i, end);
      if (code !== LINE_HEADER) {
        return code;
      }
      i = this.nameEnd;
      if (bytes[i] !== COLON) {
        this.valueStart = i;
        return this.#endOfValue(bytes, i, i, end);
      }
    }
    this.nameEnd = i++;
    while (i < end && bytes[i] === SPACE) {
      i++;
    }
    this.valueStart = i;

    // Most values are short: to look at their bytes costs less than two searches in the text.
    const near = i + SHORT < end ? i + SHORT : end - 1;
    while (i < near && bytes[i]! > CR) {
      i++;
    }
    if (i < near && bytes[i] === CR && bytes[i + 1] === LF) {
      return this.#ended(bytes, i);
    }
    return this.#longValue(bytes, end);
  }

  /** The value, which contains no zero byte, ends at the CR LF at `cr`. */
  #ended(bytes: Uint8Array, cr: number): number {
    this.next = cr + 2;
    this.valueEnd = bytes[cr - 1] === SPACE ? trimmed(bytes, this.valueStart, cr) : cr;
    this.known = this.invalidName ? undefined : findKnownHeader(bytes, this.nameStart, this.nameEnd);
    return LINE_HEADER;
  }

  #longValue(bytes: Uint8Array, end: number): number {
    const from = this.valueStart - this.#base;
    const lf = this.#text.indexOf('\n', from) + this.#base;
    const cr = this.#text.indexOf('\r', from) + this.#base;
    if (lf === cr + 1) {
      this.#hasZero ??= this.#text.includes('\0');
      if (!this.#hasZero) {
        return this.#ended(bytes, cr);
      }
    }
    return this.#value(bytes, this.valueStart, end);
  }

  /** The name of the line as sent. */
  name(): string {
    const known = this.known;
    return known === undefined || known.name === '' ? this.quote(this.nameEnd) : known.name;
  }

  /** The value of the line. */
  value(): string {
    return this.#text.slice(this.valueStart - this.#base, this.valueEnd - this.#base);
  }

  /** The line from its start to `end`. */
  quote(end: number): string {
    return this.#text.slice(this.nameStart - this.#base, end - this.#base);
  }

  /** The line that was found invalid, as error messages show it. */
  quoteInvalid(bytes: Uint8Array): string {
    return `"${this.quote(this.bad)}\\x${bytes[this.bad]!.toString(16).padStart(2, '0')}..."`;
  }

  // `from` is at the first byte that is not good in a name. Says what is there: LINE_HEADER if the name ends well, at `nameEnd`.
  #restOfName(bytes: Uint8Array, from: number, end: number): number {
    const pos = this.nameStart;
    for (let i = from; i < end; i++) {
      const c = bytes[i]!;
      if (nameByte[c] === 1) {
        continue;
      }
      if (i === pos && (c === CR || c === LF)) {
        return this.#lastLine(bytes, i, end);
      }
      if (i === pos && c === COLON) {
        return this.#invalid(i);
      }
      if (c === COLON || c === CR || c === LF) {
        this.nameEnd = i;
        return LINE_HEADER;
      }
      if (c === SLASH && this.#fromUpstream && i - pos === 4 && isHttp(bytes, pos)) {
        return this.#ignoreLine(bytes, i, end);
      }
      if (c <= SPACE || c === 0x7f) {
        return this.#invalid(i);
      }
      if (c !== UNDERSCORE || !this.underscores) {
        this.invalidName = true;
      }
    }
    // A status line shows by the "/" that is its fifth byte.
    return this.#again(this.#fromUpstream && end - pos <= 4 ? NO_BYTES : QUIET_NAME);
  }

  #value(bytes: Uint8Array, from: number, end: number): number {
    let i = from;
    while (i < end && bytes[i] !== CR && bytes[i] !== LF) {
      if (bytes[i] === 0) {
        return this.#invalid(i);
      }
      i++;
    }
    return i === end ? this.#again(QUIET_VALUE) : this.#endOfValue(bytes, i, trimmed(bytes, from, i), end);
  }

  // `from` is at the CR or LF after the value. Any number of CRs may stand before the LF.
  #endOfValue(bytes: Uint8Array, from: number, valueEnd: number, end: number): number {
    this.valueEnd = valueEnd;
    let i = from;
    while (bytes[i] !== LF) {
      if (bytes[i] !== CR) {
        return this.#invalid(valueEnd);
      }
      if (++i === end) {
        return this.#again(QUIET_CR);
      }
    }
    this.next = i + 1;
    this.known = this.invalidName ? undefined : findKnownHeader(bytes, this.nameStart, this.nameEnd);
    return LINE_HEADER;
  }

  #lastLine(bytes: Uint8Array, i: number, end: number): number {
    if (bytes[i] === LF) {
      this.next = i + 1;
      return LINE_END;
    }
    if (i + 1 === end) {
      return this.#again(NO_BYTES);
    }
    if (bytes[i + 1] !== LF) {
      return this.#invalid(i);
    }
    this.next = i + 2;
    return LINE_END;
  }

  #ignoreLine(bytes: Uint8Array, from: number, end: number): number {
    let i = from;
    while (i < end && bytes[i] !== LF) {
      i++;
    }
    if (i === end) {
      return this.#again(QUIET_IGNORED);
    }
    this.next = i + 1;
    return LINE_IGNORED;
  }

  #again(quiet: QuietBytes): number {
    this.quiet = quiet;
    return LINE_AGAIN;
  }

  #invalid(at: number): number {
    this.bad = at;
    return LINE_INVALID;
  }
}

// Where the value `start..end` ends without its trailing spaces.
function trimmed(bytes: Uint8Array, start: number, end: number): number {
  let last = end;
  while (last > start && bytes[last - 1] === SPACE) {
    last--;
  }
  return last;
}

function isHttp(bytes: Uint8Array, pos: number): boolean {
  return bytes[pos] === 0x48 && bytes[pos + 1] === 0x54 && bytes[pos + 2] === 0x54 && bytes[pos + 3] === 0x50;
}
