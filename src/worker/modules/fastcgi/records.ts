import type { ParamEncoding } from '../../cgi/params.js';

/** Types of records. nginx: NGX_HTTP_FASTCGI_*. */
export const RECORD = { BEGIN: 1, END: 3, PARAMS: 4, STDIN: 5, STDOUT: 6, STDERR: 7 } as const;

/** The longest content of one record. */
const MAX_CONTENT = 65535;
/** As much as a record of body gets. */
const BODY_CONTENT = 32 * 1024;

/** Bytes that fill a record up to a multiple of eight. */
const padding = (size: number): number => -size & 7;

/** A record's head, latin1. */
function recordHead(type: number, size: number): string {
  return String.fromCharCode(1, type, 0, 1, size >> 8, size & 255, padding(size), 0);
}

const PADS = ['', '\0', '\0\0', '\0\0\0', '\0\0\0\0', '\0\0\0\0\0', '\0\0\0\0\0\0', '\0\0\0\0\0\0\0'];

/** What stands behind content of a size. */
const recordTail = (size: number): string => PADS[padding(size)]!;

/** A record that asks a responder to begin. */
export const beginRecord = (keep: boolean): string => `${recordHead(RECORD.BEGIN, 8)}\0\x01${keep ? '\x01' : '\0'}\0\0\0\0\0`;

/** The records of all parameters, their end included; undefined when they are longer than a record can be. */
export function paramRecords(params: string): string | undefined {
  if (params.length > MAX_CONTENT) {
    return undefined;
  }
  const content = params === '' ? '' : recordHead(RECORD.PARAMS, params.length) + params + recordTail(params.length);
  return content + recordHead(RECORD.PARAMS, 0);
}

/** The end of the body. */
export const STDIN_END = recordHead(RECORD.STDIN, 0);

const length = (n: number): string =>
  n < 128 ? String.fromCharCode(n) : String.fromCharCode((n >>> 24) | 128, (n >> 16) & 255, (n >> 8) & 255, n & 255);

/** How a parameter is written. */
export const PAIR: ParamEncoding = {
  before: (name, valueLength) => length(name.length) + length(valueLength) + name,
  after: '',
};

/** The framing of a piece of body, as heads and tails of records. Pieces are cut by the caller to {@link BODY_CONTENT} at most. */
export const stdinFrame = {
  largest: BODY_CONTENT,
  before: (size: number): string => recordHead(RECORD.STDIN, size),
  after: recordTail,
  last: STDIN_END,
};

/** The result of reading: more bytes are needed. */
export const NEED_MORE = 0;
/** A record begins: `type` and `length` say which. */
export const RECORD_BEGIN = 1;
/** A piece of content stands at `start` to `end`. */
export const CONTENT = 2;
/** The record is over, its padding included. */
export const RECORD_END = 3;
/** These are no records of a response; `reason` says why. */
export const BROKEN = 4;

const HEAD_SIZE = 8;

/** What the reader waits for. */
const AT = { HEAD: 0, CONTENT: 1, PADDING: 2 } as const;

/** Takes records apart, however their bytes are cut. nginx: ngx_http_fastcgi_process_record. */
export class RecordReader {
  type = 0;
  /** Size of the record's content. */
  length = 0;
  start = 0;
  end = 0;
  /** Where to go on. */
  next = 0;
  /** The error in nginx's words, as they follow "upstream sent ". */
  reason = '';
  /** Bytes of the current record's content that have not come yet. */
  #left = 0;
  #padding = 0;
  #at: number = AT.HEAD;
  /** Bytes of the record's head that were read. */
  #read = 0;

  reset(): void {
    this.#at = AT.HEAD;
    this.#read = 0;
  }

  /** Bytes that have to come at least. */
  get least(): number {
    const left = this.#at === AT.HEAD ? 0 : this.#at === AT.CONTENT && this.#left > 0 ? this.#left : this.#padding;
    return Math.max(left, 1);
  }

  read(bytes: Buffer, start: number, end: number): number {
    switch (this.#at) {
      case AT.HEAD:
        return this.#readHead(bytes, start, end);
      case AT.CONTENT:
        if (this.#left > 0) {
          return this.#readContent(start, end);
        }
        this.#at = AT.PADDING;
        return this.#readPadding(start, end);
      default:
        return this.#readPadding(start, end);
    }
  }

  #readHead(bytes: Buffer, start: number, end: number): number {
    if (this.#read === 0 && end - start >= HEAD_SIZE && this.#wholeHead(bytes, start)) {
      return RECORD_BEGIN;
    }
    for (let i = start; i < end; i++) {
      if (!this.#headByte(bytes[i]!)) {
        return BROKEN;
      }
      if (this.#read < HEAD_SIZE) {
        continue;
      }
      this.#read = 0;
      this.#left = this.length;
      this.#at = AT.CONTENT;
      this.next = i + 1;
      return RECORD_BEGIN;
    }
    this.next = end;
    return NEED_MORE;
  }

  /** Takes a head that came in one piece and is in order, as almost all are. Returns false for any other, which was not touched. */
  #wholeHead(bytes: Buffer, at: number): boolean {
    const type = bytes[at + 1]!;
    if (bytes[at] !== 1 || bytes[at + 2] !== 0 || bytes[at + 3] !== 1) {
      return false;
    }
    if (type !== RECORD.STDOUT && type !== RECORD.STDERR && type !== RECORD.END) {
      return false;
    }
    this.type = type;
    this.length = (bytes[at + 4]! << 8) | bytes[at + 5]!;
    this.#padding = bytes[at + 6]!;
    this.#left = this.length;
    this.#at = AT.CONTENT;
    this.next = at + HEAD_SIZE;
    return true;
  }

  #headByte(byte: number): boolean {
    switch (this.#read++) {
      case 0:
        return byte === 1 || this.#broken(`unsupported FastCGI protocol version: ${byte}`);
      case 1:
        this.type = byte;
        if (byte === RECORD.STDOUT || byte === RECORD.STDERR || byte === RECORD.END) {
          return true;
        }
        return this.#broken(`invalid FastCGI record type: ${byte}`);
      case 2:
        return byte === 0 || this.#broken(`unexpected FastCGI request id high byte: ${byte}`);
      case 3:
        return byte === 1 || this.#broken(`unexpected FastCGI request id low byte: ${byte}`);
      case 4:
        this.length = byte << 8;
        return true;
      case 5:
        this.length |= byte;
        return true;
      case 6:
        this.#padding = byte;
        return true;
      default:
        return true;
    }
  }

  #broken(reason: string): false {
    this.reason = reason;
    return false;
  }

  #readContent(start: number, end: number): number {
    this.next = start;
    if (start === end) {
      return NEED_MORE;
    }
    this.start = start;
    this.end = Math.min(start + this.#left, end);
    this.#left -= this.end - start;
    this.next = this.end;
    return CONTENT;
  }

  #readPadding(start: number, end: number): number {
    const skipped = Math.min(this.#padding, end - start);
    this.#padding -= skipped;
    this.next = start + skipped;
    if (this.#padding > 0) {
      return NEED_MORE;
    }
    this.#at = AT.HEAD;
    return RECORD_END;
  }

  /** Gives back the last `size` bytes of the content read last: they are read again from `next`. */
  unread(size: number): void {
    this.#left += size;
    this.next -= size;
  }
}
