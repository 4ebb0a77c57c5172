// Longer than most: one parser goes through request line, headers and their limits, and its steps share where they are.
import { Buffer } from 'node:buffer';
import { latin1 } from '../../bytes/latin1.js';
import { lowerAscii } from '../../text/ascii-case.js';
import { duplicateText } from './duplicate-text.js';
import { HeaderLine, LINE_AGAIN, LINE_HEADER, LINE_INVALID } from './header-line.js';
import { HeaderSlot, type KnownHeader } from './header-names.js';
import { type HostParts, validateHost } from './host.js';
import { methodBit } from './method.js';
import { areQuiet, NO_BYTES, type QuietBytes } from './quiet-bytes.js';
import { checkHead } from './request-checks.js';
import { CONNECTION_CLOSE, CONNECTION_KEEP_ALIVE, RequestHead } from './request-head.js';
import {
  HTTP_09,
  HTTP_10,
  HTTP_11,
  REQUEST_LINE_AGAIN,
  REQUEST_LINE_INVALID_09_METHOD,
  REQUEST_LINE_INVALID_METHOD,
  REQUEST_LINE_INVALID_VERSION,
  REQUEST_LINE_OK,
  RequestLine,
} from './request-line.js';
import { normalizeUri, splitSimpleUri } from './uri.js';

/** `HeadParser.parse`: the head is not complete yet. Every byte given was taken. */
export const HEAD_INCOMPLETE = 0;
/** `HeadParser.parse`: the head is complete; any other number is the status to answer with. */
export const HEAD_DONE = 1;

/** The status of a header that is too large; it is shown as 400 and `error_page` can tell it apart. */
export const REQUEST_HEADER_TOO_LARGE = 494;

/** What a server block says about request heads. */
export interface HeadLimits {
  /** client_header_buffer_size, bytes. */
  readonly headerBufferSize: number;
  /** large_client_header_buffers: how many buffers of how many bytes. */
  readonly largeBufferCount: number;
  readonly largeBufferSize: number;
  readonly maxHeaders: number;
  readonly ignoreInvalidHeaders: boolean;
  readonly underscoresInHeaders: boolean;
  readonly mergeSlashes: boolean;
  readonly allowConnect: boolean;
}

/** Whoever parses heads: it is told what it has to act on while the head is still being read. */
export interface HeadOwner {
  /**
   * The host is known (`head.host`), or the head has none (it is empty then): the moment to select the server and to set the parser's
   * `limits` to those of that server. Returns 0, or the status to refuse the request with.
   */
  selectServer(head: RequestHead): number;
  /** A header line was dropped because its name is invalid; `line` is its text. */
  ignoredHeader(head: RequestHead, line: string): void;
}

// The longest piece of a header line that a message about its length quotes (nginx: NGX_MAX_ERROR_STR - 300).
const MAX_QUOTED_LINE = 1748;

/**
 * Parses the heads of requests, one after another, with nginx's grammar, checks and limits (nginx:
 * ngx_http_process_request_line, ngx_http_process_request_headers). The bytes of an unfinished line are kept, so each chunk is given once;
 * how the bytes are cut into chunks changes nothing about the result.
 */
export class HeadParser implements HostParts {
  limits: HeadLimits;
  head: RequestHead;
  /** The parts of the last good host, and what they were parsed from. */
  host = '';
  port = 0;
  #rawHost: string | undefined = undefined;
  #owner: HeadOwner;
  readonly #requestLine = new RequestLine();
  readonly #headerLine = new HeaderLine(false, false);
  #inHeaders = false;
  #headerCount = 0;
  /** The header lines until the head gets them: an array that grows with what is put into it reserves many times as much. */
  readonly #names: string[] = [];
  readonly #headers: string[] = [];
  /** How many lines of these are the present head's, and how many of them it has got. */
  #lines = 0;
  #linesGiven = 0;
  // The start of the first line not finished yet, in the bytes being parsed.
  #pos = 0;
  // The start of the last header line that was begun; -1 if there was none.
  #lastHeaderLine = -1;
  // nginx reads into buffers of limited size, and a line has to fit into one. This is the end of the imagined buffer, and how many
  // large ones have been used.
  #bufferEnd = 0;
  #largeBuffers = 0;
  // What has arrived of the unfinished line: the first #heldLength bytes. It begins #bufferEnd bytes before the buffer's end.
  #held: Buffer | undefined = undefined;
  #heldLength = 0;
  /** The bytes with which the unfinished line stays so. */
  #quiet: QuietBytes = NO_BYTES;

  constructor(limits: HeadLimits, owner: HeadOwner) {
    this.limits = limits;
    this.#owner = owner;
    this.head = new RequestHead();
    this.#bufferEnd = limits.headerBufferSize;
  }

  /** Prepares for the next request, of the same connection or of another, which gets a new `head`. */
  reset(limits: HeadLimits, owner: HeadOwner = this.#owner): void {
    this.limits = limits;
    this.#owner = owner;
    this.head = new RequestHead();
    this.#inHeaders = false;
    this.#headerCount = 0;
    this.#lines = 0;
    this.#linesGiven = 0;
    this.#lastHeaderLine = -1;
    this.#bufferEnd = limits.headerBufferSize;
    this.#largeBuffers = 0;
    this.#held = undefined;
    this.#heldLength = 0;
  }

  /** Whether the request line has been read: says what the client was doing when it stopped. */
  get inHeaders(): boolean {
    return this.#inHeaders;
  }

  /** Parses the bytes `start..end` of a chunk: HEAD_AGAIN, HEAD_DONE or the status to refuse the request with. */
  parse(chunk: Buffer, start: number, end: number): number {
    let bytes = chunk;
    let last = end;
    let shift = 0;
    this.#pos = start;
    if (this.#heldLength > 0) {
      if (this.#heldLength + end - start < this.#bufferEnd && areQuiet(this.#quiet, chunk, start, end)) {
        this.#append(chunk, start, end);
        return HEAD_INCOMPLETE;
      }
      shift = start - this.#heldLength;
      bytes = this.#append(chunk, start, end);
      last = end - shift;
      this.#pos = 0;
    }
    this.#bufferEnd += this.#pos;

    for (;;) {
      const limit = Math.min(last, this.#bufferEnd);
      let code = this.#parseLines(bytes, limit);
      if (code === HEAD_INCOMPLETE && limit === this.#bufferEnd) {
        code = this.#nextBuffer(bytes);
      } else if (code === HEAD_INCOMPLETE) {
        this.#giveLines();
        return this.#hold(bytes, last);
      }
      if (code !== HEAD_INCOMPLETE) {
        this.#giveLines();
        this.head.end = this.#pos + shift;
        this.head.room = this.#bufferEnd - this.#pos;
        return code;
      }
    }
  }

  /** The client went away or was too slow: leaves what has arrived of an unfinished request line in `head.line`. */
  abandon(): void {
    if (!this.#inHeaders && this.#heldLength > 0) {
      this.head.line = lineText(this.#held!, 0, this.#heldLength);
    }
  }

  /** Whoever asks the head sees all lines that were read so far. */
  #giveLines(): void {
    const lines = this.#lines;
    if (lines === this.#linesGiven) {
      return;
    }
    this.#linesGiven = lines;
    this.head.names = this.#names.slice(0, lines);
    this.head.headers = this.#headers.slice(0, 2 * lines);
  }

  #append(chunk: Buffer, start: number, end: number): Buffer {
    const length = this.#heldLength + end - start;
    let held = this.#held!;
    if (held.length < length) {
      held = Buffer.allocUnsafeSlow(length * 2);
      this.#held!.copy(held, 0, 0, this.#heldLength);
      this.#held = held;
    }
    chunk.copy(held, this.#heldLength, start, end);
    this.#heldLength = length;
    return held;
  }

  #hold(bytes: Buffer, end: number): number {
    const pos = this.#pos;
    const length = end - pos;
    if (bytes !== this.#held) {
      if (this.#held === undefined || this.#held.length < length) {
        this.#held = Buffer.allocUnsafeSlow(length + 512);
      }
      bytes.copy(this.#held, 0, pos, end);
    } else if (pos > 0) {
      bytes.copyWithin(0, pos, end);
    }
    this.#heldLength = length;
    this.#bufferEnd -= pos;
    return HEAD_INCOMPLETE;
  }

  // The buffer is full before the line ends: goes on in the next large one (nginx: ngx_http_alloc_large_header_buffer).
  #nextBuffer(bytes: Buffer): number {
    const pos = this.#pos;
    const limits = this.limits;
    if (!this.#inHeaders && pos === this.#bufferEnd) {
      // Nothing but empty lines so far: the buffer is used again from its start.
      this.#bufferEnd += limits.headerBufferSize;
      return HEAD_INCOMPLETE;
    }
    if (this.#bufferEnd - pos < limits.largeBufferSize && this.#largeBuffers < limits.largeBufferCount) {
      this.#largeBuffers++;
      this.#bufferEnd = pos + limits.largeBufferSize;
      return HEAD_INCOMPLETE;
    }

    if (!this.#inHeaders) {
      this.head.line = latin1(bytes, pos, this.#bufferEnd);
      return this.#refuse(414, 'client sent too long URI');
    }
    this.head.lingeringClose = true;
    const from = this.#lastHeaderLine;
    if (from === -1) {
      return this.#refuse(REQUEST_HEADER_TOO_LARGE, 'client sent too large request');
    }
    const quoted = latin1(bytes, from, Math.min(this.#bufferEnd, from + MAX_QUOTED_LINE));
    return this.#refuse(REQUEST_HEADER_TOO_LARGE, `client sent too long header line: "${quoted}..."`);
  }

  // Parses lines from #pos on, as long as they end before `limit`.
  #parseLines(bytes: Buffer, limit: number): number {
    const base = this.#pos;
    const text = latin1(bytes, base, limit);
    if (!this.#inHeaders) {
      const code = this.#parseRequestLine(bytes, text, base, limit);
      if (code !== HEAD_INCOMPLETE || !this.#inHeaders) {
        return code;
      }
    }

    const line = this.#headerLine;
    line.begin(text, base);
    for (;;) {
      const pos = this.#pos;
      if (pos < limit) {
        this.#lastHeaderLine = pos;
      }
      // The Host header may have selected a server that sees this otherwise.
      line.underscores = this.limits.underscoresInHeaders;
      const code = line.scan(bytes, pos, limit);
      if (code === LINE_AGAIN) {
        this.#quiet = line.quiet;
        return HEAD_INCOMPLETE;
      }
      if (code === LINE_INVALID) {
        return this.#refuse(400, `client sent invalid header line: ${line.quoteInvalid(bytes)}`);
      }
      this.#pos = line.next;
      this.head.length += line.next - pos;
      if (code !== LINE_HEADER) {
        return this.#finish();
      }
      const status = this.#addHeader(bytes);
      if (status !== 0) {
        return status;
      }
    }
  }

  #parseRequestLine(bytes: Buffer, text: string, base: number, limit: number): number {
    const line = this.#requestLine;
    const head = this.head;
    const code = line.scan(bytes, base, limit);
    const start = line.start;
    this.#pos = start;
    if (code === REQUEST_LINE_AGAIN) {
      this.#quiet = line.quiet;
      return HEAD_INCOMPLETE;
    }
    if (code !== REQUEST_LINE_OK) {
      head.line = lineText(bytes, start, limit);
      if (line.protocolStart !== -1) {
        head.protocol = '';
      }
      if (code === REQUEST_LINE_INVALID_METHOD) {
        return this.#refuse(400, 'client sent invalid method');
      }
      if (code === REQUEST_LINE_INVALID_VERSION) {
        return this.#refuse(505, 'client sent invalid version');
      }
      if (code === REQUEST_LINE_INVALID_09_METHOD) {
        head.version = HTTP_09;
        return this.#refuse(400, 'client sent invalid method in HTTP/0.9 request');
      }
      return this.#refuse(400, 'client sent invalid request');
    }

    this.#pos = line.next;
    head.length = line.next - start;
    head.line = text.slice(start - base, line.end - base);
    head.method = text.slice(start - base, line.methodEnd - base);
    head.methodBit = methodBit(head.method);
    head.version = line.version;
    if (line.version === HTTP_11 && line.end - line.protocolStart === 8) {
      head.protocol = 'HTTP/1.1';
    } else if (line.protocolStart !== -1) {
      head.protocol = text.slice(line.protocolStart - base, line.end - base);
    }

    const target = text.slice(line.uriStart - base, line.uriEnd - base);
    if (line.plain) {
      splitSimpleUri(target, head);
    } else if (!normalizeUri(target, this.limits.mergeSlashes, head)) {
      head.uri = head.args = head.exten = '';
      return this.#refuse(400, 'client sent invalid request');
    }
    head.unparsedUri = target;
    head.validUnparsedUri = target.charCodeAt(0) === 0x2f;
    if (line.schemaStart !== -1) {
      head.schema = text.slice(line.schemaStart - base, line.schemaEnd - base);
    }
    if (line.hostStart !== -1) {
      const status = this.#setHost(text.slice(line.hostStart - base, line.hostEnd - base), 'client sent invalid host in request line');
      if (status !== 0) {
        return status;
      }
    }
    if (line.version < HTTP_10) {
      const status = head.host === '' ? this.#selectServer(head) : 0;
      return status === 0 ? HEAD_DONE : status;
    }
    this.#inHeaders = true;
    return HEAD_INCOMPLETE;
  }

  #addHeader(bytes: Buffer): number {
    const line = this.#headerLine;
    const head = this.head;
    if (line.invalidName && this.limits.ignoreInvalidHeaders) {
      this.#giveLines();
      this.#owner.ignoredHeader(head, line.quote(line.valueEnd));
      return 0;
    }
    if (this.#headerCount++ >= this.limits.maxHeaders) {
      head.lingeringClose = true;
      return this.#refuse(REQUEST_HEADER_TOO_LARGE, 'client sent too many header lines');
    }

    const name = line.name();
    const known = line.known;
    const value = known?.slot === HeaderSlot.host ? this.#hostText(bytes) : line.value();
    const at = this.#lines++;
    this.#names[at] = known === undefined ? lowerAscii(name) : known.lower;
    this.#headers[2 * at] = name;
    this.#headers[2 * at + 1] = value;
    return known === undefined || known.slot === -1 ? 0 : this.#addKnownHeader(known, value);
  }

  #addKnownHeader(known: KnownHeader, value: string): number {
    const head = this.head;
    const slot = known.slot;
    if (!head.has(slot)) {
      head.note(slot);
    } else if (known.unique) {
      this.#giveLines();
      return this.#refuse(400, duplicateText(head, known, value));
    }

    if (slot === HeaderSlot.connection) {
      if (value === 'keep-alive') {
        head.connection = CONNECTION_KEEP_ALIVE;
        return 0;
      }
      const text = value.toLowerCase();
      if (text.includes('close')) {
        head.connection = CONNECTION_CLOSE;
      } else if (text.includes('keep-alive')) {
        head.connection = CONNECTION_KEEP_ALIVE;
      }
    } else if (slot === HeaderSlot.host) {
      return this.#setHost(value, 'client sent invalid host header');
    }
    return 0;
  }

  // The requests of one connection mostly name the same host. Its text is a copy of its own, which does not hold on to the whole head.
  #hostText(bytes: Buffer): string {
    const { valueStart, valueEnd } = this.#headerLine;
    const last = this.#rawHost;
    if (last !== undefined && last.length === valueEnd - valueStart) {
      let i = 0;
      while (i < last.length && last.charCodeAt(i) === bytes[valueStart + i]) {
        i++;
      }
      if (i === last.length) {
        return last;
      }
    }
    return latin1(bytes, valueStart, valueEnd);
  }

  #setHost(raw: string, error: string): number {
    if (raw !== this.#rawHost) {
      if (!validateHost(raw, this)) {
        return this.#refuse(400, error);
      }
      this.#rawHost = raw;
    }
    const head = this.head;
    // The host of the request target comes before that of the Host header.
    if (head.host !== '') {
      return 0;
    }
    head.host = this.host;
    head.port = this.port;
    return this.#selectServer(head);
  }

  #selectServer(head: RequestHead): number {
    this.#giveLines();
    return this.#owner.selectServer(head);
  }

  #finish(): number {
    const head = this.head;
    this.#giveLines();
    if (head.host === '') {
      const status = this.#selectServer(head);
      if (status !== 0) {
        return status;
      }
    }
    const status = checkHead(head, this.limits.allowConnect);
    return status === 0 ? HEAD_DONE : status;
  }

  #refuse(status: number, error: string): number {
    this.head.error = error;
    return status;
  }
}

// What has arrived of a line that starts at `start`.
function lineText(bytes: Buffer, start: number, limit: number): string {
  let end = start;
  while (end < limit && bytes[end] !== 0x0a && bytes[end] !== 0x0d) {
    end++;
  }
  return latin1(bytes, start, end);
}
