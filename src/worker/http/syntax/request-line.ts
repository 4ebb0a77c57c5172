import { NO_BYTES, type QuietBytes, quietBytes } from './quiet-bytes.js';

/** The request line is not complete yet; nothing was found wrong so far. */
export const REQUEST_LINE_AGAIN = 0;
/** The request line was read; `next` is the byte after it. */
export const REQUEST_LINE_OK = 1;
export const REQUEST_LINE_INVALID_METHOD = 2;
export const REQUEST_LINE_INVALID = 3;
export const REQUEST_LINE_INVALID_VERSION = 4;
export const REQUEST_LINE_INVALID_09_METHOD = 5;

/** HTTP versions are major * 1000 + minor, as in nginx: HTTP/1.1 is 1001. */
export const HTTP_09 = 9;
export const HTTP_10 = 1000;
export const HTTP_11 = 1001;

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const SLASH = 0x2f;
const COLON = 0x3a;
const QUESTION = 0x3f;
const LETTER_H = 0x48;

const METHOD_BYTE = 1;
const SCHEMA_BYTE = 2;
const HOST_BYTE = 4;
const LITERAL_BYTE = 8;
const DIGIT = 16;
const ALPHA = 32;

// The bytes of a request target: where it ends, what may need normalising, and the same if it follows "/".
const PLAIN = 1;
const SPECIAL = 2;
const SPECIAL_AFTER_SLASH = 3;
const targetKind = new Uint8Array(256).fill(PLAIN);
targetKind.fill(0, 0, 0x21);
targetKind[0x7f] = 0;
for (const c of '#%+') {
  targetKind[c.charCodeAt(0)] = SPECIAL;
}
for (const c of './') {
  targetKind[c.charCodeAt(0)] = SPECIAL_AFTER_SLASH;
}

const QUIET_SPACE = quietBytes(' ');

const kind = new Uint8Array(256);
function allow(bit: number, bytes: string): void {
  for (let i = 0; i < bytes.length; i++) {
    kind[bytes.charCodeAt(i)]! |= bit;
  }
}
const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const letters = capitals + capitals.toLowerCase();
const digits = '0123456789';
allow(METHOD_BYTE, `${capitals}_-`);
allow(SCHEMA_BYTE, `${letters + digits}+-.`);
allow(HOST_BYTE, `${letters + digits}.-`);
allow(LITERAL_BYTE, `${letters + digits}:-._~!$&'()*+,;=`);
allow(DIGIT, digits);
allow(ALPHA, letters);
const quietKind = (bit: number): QuietBytes => kind.map((bits) => bits & bit);
const QUIET_METHOD = quietKind(METHOD_BYTE);
const QUIET_SCHEMA = quietKind(SCHEMA_BYTE);
const QUIET_HOST = quietKind(HOST_BYTE);
const QUIET_LITERAL = quietKind(LITERAL_BYTE);
const QUIET_PORT = quietKind(DIGIT);

/**
 * Scans a request line and leaves the places of its parts in its fields, -1 for what is absent (nginx: ngx_http_parse_request_line).
 * It keeps nothing between calls: an incomplete line is scanned again from its start once more bytes have come that are not {@link quiet}.
 */
export class RequestLine {
  /** The first byte after leading empty lines. */
  start = 0;
  /** The end of the line's text; `next` is the byte after its line end. */
  end = 0;
  next = 0;
  methodEnd = 0;
  uriStart = 0;
  uriEnd = 0;
  schemaStart = -1;
  schemaEnd = -1;
  hostStart = -1;
  hostEnd = -1;
  protocolStart = -1;
  version = 0;
  /** The bytes with which the line stays incomplete, after REQUEST_LINE_AGAIN. */
  quiet: QuietBytes = NO_BYTES;
  /** Whether the target is its own normal form, so that nothing has to be decoded in it. */
  plain = true;
  #at = 0;
  #connect = false;

  /** Scans the line at `pos`; `end` is where the received bytes end. */
  scan(bytes: Uint8Array, pos: number, end: number): number {
    let i = pos;
    while (i < end && (bytes[i] === CR || bytes[i] === LF)) {
      i++;
    }
    this.start = i;
    this.methodEnd = -1;
    this.schemaStart = this.schemaEnd = this.hostStart = this.hostEnd = this.protocolStart = -1;
    this.#connect = false;
    this.plain = true;
    this.quiet = NO_BYTES;

    while (i < end && (kind[bytes[i]!]! & METHOD_BYTE) !== 0) {
      i++;
    }
    if (i === end) {
      return i === this.start ? REQUEST_LINE_AGAIN : this.#again(QUIET_METHOD);
    }
    if (i === this.start || bytes[i] !== SPACE) {
      return REQUEST_LINE_INVALID_METHOD;
    }
    this.methodEnd = i;
    if (i - this.start === 7) {
      this.#connect = isConnect(bytes, this.start);
    }

    while (i < end && bytes[i] === SPACE) {
      i++;
    }
    if (i === end) {
      return this.#again(QUIET_SPACE);
    }

    this.#at = i;
    let code: number;
    if (this.#connect) {
      code = this.#host(bytes, end);
    } else if (bytes[i] === SLASH) {
      this.uriStart = i;
      code = this.#target(bytes, end);
    } else if ((kind[bytes[i]!]! & ALPHA) !== 0) {
      code = this.#schema(bytes, end);
      if (code === REQUEST_LINE_OK) {
        code = this.#host(bytes, end);
      }
      if (code === REQUEST_LINE_OK && bytes[this.#at] !== SPACE) {
        code = this.#target(bytes, end);
      }
    } else {
      return REQUEST_LINE_INVALID;
    }
    if (code === REQUEST_LINE_OK) {
      code = this.#protocol(bytes, end);
    }
    if (code === REQUEST_LINE_OK && this.version === HTTP_09 && !this.#isGet(bytes)) {
      return REQUEST_LINE_INVALID_09_METHOD;
    }
    return code;
  }

  #schema(bytes: Uint8Array, end: number): number {
    let i = this.#at;
    this.schemaStart = i;
    while (i < end && (kind[bytes[i]!]! & SCHEMA_BYTE) !== 0) {
      i++;
    }
    this.schemaEnd = i;
    if (i < end && bytes[i] !== COLON) {
      return REQUEST_LINE_INVALID;
    }
    if (i + 1 < end && bytes[i + 1] !== SLASH) {
      return REQUEST_LINE_INVALID;
    }
    if (i + 2 < end && bytes[i + 2] !== SLASH) {
      return REQUEST_LINE_INVALID;
    }
    if (i + 3 >= end) {
      return i === end ? this.#again(QUIET_SCHEMA) : REQUEST_LINE_AGAIN;
    }
    this.#at = i + 3;
    return REQUEST_LINE_OK;
  }

  // Ends at the first byte of what follows the authority: "/", "?" or a space.
  #host(bytes: Uint8Array, end: number): number {
    let i = this.#at;
    this.hostStart = i;
    if (bytes[i] === 0x5b) {
      i++;
      while (i < end && (kind[bytes[i]!]! & LITERAL_BYTE) !== 0) {
        i++;
      }
      if (i === end) {
        return this.#again(QUIET_LITERAL);
      }
      if (bytes[i] !== 0x5d) {
        return REQUEST_LINE_INVALID;
      }
      i++;
    } else {
      while (i < end && (kind[bytes[i]!]! & HOST_BYTE) !== 0) {
        i++;
      }
    }
    if (i === end) {
      return bytes[this.#at] === 0x5b ? REQUEST_LINE_AGAIN : this.#again(QUIET_HOST);
    }

    const port = bytes[i] === COLON;
    if (port) {
      const first = ++i;
      while (i < end && (kind[bytes[i]!]! & DIGIT) !== 0) {
        i++;
      }
      if (i === end) {
        return this.#again(QUIET_PORT);
      }
      if (i === first && this.#connect) {
        return REQUEST_LINE_INVALID;
      }
    }
    this.hostEnd = i;
    this.#at = i;

    const c = bytes[i];
    if (this.#connect) {
      return port && c === SPACE ? REQUEST_LINE_OK : REQUEST_LINE_INVALID;
    }
    if (c === SLASH || c === QUESTION) {
      this.uriStart = i;
      return REQUEST_LINE_OK;
    }
    // Without a path the URI is "/": the first one of "://" serves.
    this.uriStart = this.schemaEnd + 1;
    this.uriEnd = this.schemaEnd + 2;
    return c === SPACE ? REQUEST_LINE_OK : REQUEST_LINE_INVALID;
  }

  // The path and the arguments, which begin at `#at`.
  #target(bytes: Uint8Array, end: number): number {
    let i = this.#at;
    if (bytes[i] === QUESTION) {
      this.plain = false;
    }
    for (i++; i < end; i++) {
      const k = targetKind[bytes[i]!];
      if (k === PLAIN) {
        continue;
      }
      if (k === 0) {
        break;
      }
      if (k === SPECIAL || bytes[i - 1] === SLASH) {
        this.plain = false;
      }
    }
    if (i >= end) {
      return this.#again(targetKind);
    }
    this.uriEnd = i;
    this.#at = i;
    const c = bytes[i];
    return c === SPACE || c === CR || c === LF ? REQUEST_LINE_OK : REQUEST_LINE_INVALID;
  }

  // What follows the target: nothing in HTTP/0.9, else the version.
  #protocol(bytes: Uint8Array, end: number): number {
    let i = this.#at;
    while (i < end && bytes[i] === SPACE) {
      i++;
    }
    if (i === end) {
      return this.#again(QUIET_SPACE);
    }
    if (bytes[i] !== LETTER_H || i === this.#at) {
      this.version = HTTP_09;
      return this.#lineEnd(bytes, i, end);
    }

    this.protocolStart = i;
    for (let k = 1; k < 5; k++) {
      if (++i === end) {
        return REQUEST_LINE_AGAIN;
      }
      if (bytes[i] !== 'HTTP/'.charCodeAt(k)) {
        return REQUEST_LINE_INVALID;
      }
    }
    if (this.#connect) {
      // A CONNECT request has no path either: the "/" of "HTTP/" serves.
      this.uriStart = i;
      this.uriEnd = i + 1;
    }

    if (++i === end) {
      return REQUEST_LINE_AGAIN;
    }
    if (bytes[i]! < 0x31 || bytes[i]! > 0x39) {
      return REQUEST_LINE_INVALID;
    }
    if (bytes[i]! > 0x31) {
      return REQUEST_LINE_INVALID_VERSION;
    }
    if (++i === end) {
      return REQUEST_LINE_AGAIN;
    }
    if (bytes[i] !== 0x2e) {
      return (kind[bytes[i]!]! & DIGIT) === 0 ? REQUEST_LINE_INVALID : REQUEST_LINE_INVALID_VERSION;
    }

    if (++i === end) {
      return REQUEST_LINE_AGAIN;
    }
    if ((kind[bytes[i]!]! & DIGIT) === 0) {
      return REQUEST_LINE_INVALID;
    }
    let minor = bytes[i]! - 0x30;
    for (;;) {
      if (++i === end) {
        return REQUEST_LINE_AGAIN;
      }
      if ((kind[bytes[i]!]! & DIGIT) === 0) {
        break;
      }
      if (minor > 99) {
        return REQUEST_LINE_INVALID;
      }
      minor = minor * 10 + bytes[i]! - 0x30;
    }
    this.version = HTTP_10 + minor;
    while (bytes[i] === SPACE) {
      if (++i === end) {
        return this.#again(QUIET_SPACE);
      }
    }
    return this.#lineEnd(bytes, i, end);
  }

  #lineEnd(bytes: Uint8Array, i: number, end: number): number {
    this.end = i;
    if (bytes[i] === LF) {
      this.next = i + 1;
      return REQUEST_LINE_OK;
    }
    if (bytes[i] !== CR) {
      return REQUEST_LINE_INVALID;
    }
    if (i + 1 === end) {
      return REQUEST_LINE_AGAIN;
    }
    if (bytes[i + 1] !== LF) {
      return REQUEST_LINE_INVALID;
    }
    this.next = i + 2;
    return REQUEST_LINE_OK;
  }

  #again(quiet: QuietBytes): number {
    this.quiet = quiet;
    return REQUEST_LINE_AGAIN;
  }

  #isGet(bytes: Uint8Array): boolean {
    const i = this.start;
    return this.methodEnd - i === 3 && bytes[i] === 0x47 && bytes[i + 1] === 0x45 && bytes[i + 2] === 0x54;
  }
}

function isConnect(bytes: Uint8Array, start: number): boolean {
  for (let k = 0; k < 7; k++) {
    if (bytes[start + k] !== 'CONNECT'.charCodeAt(k)) {
      return false;
    }
  }
  return true;
}
