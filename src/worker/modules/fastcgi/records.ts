/** Types of records. nginx: NGX_HTTP_FASTCGI_*. */
export const RECORD = { BEGIN: 1, END: 3, PARAMS: 4, STDIN: 5, STDOUT: 6, STDERR: 7 } as const;

/** The longest content of one record. */
const MAX_CONTENT = 65535;
/** As much as a record of body gets. */
const BODY_CONTENT = 32 * 1024;

/** Bytes that fill a record up to a multiple of eight. */
const padding = (size: number): number => -size & 7;

/** A record's head, latin1. */
export function recordHead(type: number, size: number): string {
  return String.fromCharCode(1, type, 0, 1, size >> 8, size & 255, padding(size), 0);
}

const PADS = ['', '\0', '\0\0', '\0\0\0', '\0\0\0\0', '\0\0\0\0\0', '\0\0\0\0\0\0', '\0\0\0\0\0\0\0'];

/** What stands behind content of a size. */
export const recordTail = (size: number): string => PADS[padding(size)]!;

/** A record that asks a responder to begin. */
export const beginRecord = (keep: boolean): string => `${recordHead(RECORD.BEGIN, 8)}\0\x01${keep ? '\x01' : '\0'}\0\0\0\0\0`;

/** The records of all parameters, their end included; undefined when they are longer than a record can be. */
export function paramRecords(params: string): string | undefined {
  if (params.length > MAX_CONTENT) return undefined;
  const content = params === '' ? '' : recordHead(RECORD.PARAMS, params.length) + params + recordTail(params.length);
  return content + recordHead(RECORD.PARAMS, 0);
}

/** The end of the body. */
export const STDIN_END = recordHead(RECORD.STDIN, 0);

const length = (n: number): string =>
  n < 128 ? String.fromCharCode(n) : String.fromCharCode((n >>> 24) | 128, (n >> 16) & 255, (n >> 8) & 255, n & 255);

/** One parameter. */
export const pair = (name: string, value: string): string => length(name.length) + length(value.length) + name + value;

/** The framing of a piece of body, as heads and tails of records. Pieces are cut by the caller to {@link BODY_CONTENT} at most. */
export const stdinFrame = {
  largest: BODY_CONTENT,
  before: (size: number): string => recordHead(RECORD.STDIN, size),
  after: recordTail,
  last: STDIN_END,
};

/** What reading on comes to. */
export const NEED_MORE = 0;
/** A piece of content stands at `start` to `end`; `type` says of what. */
export const CONTENT = 1;
/** A record has ended; one without content is told once, so that the end of a stream is seen. */
export const RECORD_END = 2;

/** Takes records apart, however their bytes are cut. */
export class RecordReader {
  type = 0;
  start = 0;
  end = 0;
  next = 0;
  /** Content of the record at hand that is still to come. */
  left = 0;
  /** The record's content was empty. */
  empty = false;
  #padding = 0;
  #head = 0;
  readonly #bytes = [0, 0, 0, 0, 0, 0, 0, 0];
  #inRecord = false;

  reset(): void {
    this.left = 0;
    this.#padding = 0;
    this.#head = 0;
    this.#inRecord = false;
  }

  read(bytes: Buffer, start: number, end: number): number {
    let i = start;
    if (!this.#inRecord) {
      while (this.#head < 8) {
        if (i === end) {
          this.next = i;
          return NEED_MORE;
        }
        this.#bytes[this.#head++] = bytes[i++]!;
      }
      this.#head = 0;
      this.#inRecord = true;
      this.type = this.#bytes[1]!;
      this.left = (this.#bytes[4]! << 8) | this.#bytes[5]!;
      this.#padding = this.#bytes[6]!;
      this.empty = this.left === 0;
    }
    if (this.left > 0) {
      if (i === end) {
        this.next = i;
        return NEED_MORE;
      }
      this.start = i;
      this.end = Math.min(i + this.left, end);
      this.left -= this.end - i;
      this.next = this.end;
      return CONTENT;
    }
    const skip = Math.min(this.#padding, end - i);
    this.#padding -= skip;
    this.next = i + skip;
    if (this.#padding > 0) return NEED_MORE;
    this.#inRecord = false;
    return RECORD_END;
  }

  /** Gives back the last `size` bytes of the content read last: they are read again from `next`. */
  unread(size: number): void {
    this.left += size;
    this.next -= size;
  }
}
