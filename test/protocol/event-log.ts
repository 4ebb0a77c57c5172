import { CHUNK_AGAIN, CHUNK_DONE, ChunkedBody } from '../../src/worker/http/syntax/chunked-body.js';
import { HEAD_DONE, HEAD_INCOMPLETE, type HeadLimits, HeadParser } from '../../src/worker/http/syntax/head-parser.js';
import type { RequestHead } from '../../src/worker/http/syntax/request-head.js';
import { HTTP_11 } from '../../src/worker/http/syntax/request-line.js';
import { Http1Reader } from '../../src/worker/upstream/response/http1-reader.js';
import { UpstreamHead } from '../../src/worker/upstream/response/upstream-head.js';
import { quoted } from '../support/case-bytes.js';

/** nginx's limits, unless a case says otherwise. */
export const limits: HeadLimits = {
  headerBufferSize: 1024,
  largeBufferCount: 4,
  largeBufferSize: 8192,
  maxHeaders: 1000,
  ignoreInvalidHeaders: true,
  underscoresInHeaders: false,
  mergeSlashes: true,
  allowConnect: false,
};

/** What a case says about itself in its `meta` comment. */
export interface Meta extends Partial<HeadLimits> {
  /** What the text is; `request` if it does not say. */
  readonly type?: 'request' | 'chunked';
  /** Limits of the server that this host selects. */
  readonly servers?: { readonly [host: string]: Partial<HeadLimits> };
  /** Keep trailers of at most this many bytes. */
  readonly trailers?: number;
}

/** One line an event, the bytes of the case given to the parser in pieces of `size` bytes after a first one of `first`. */
export function eventLog(input: Buffer, meta: Meta, size: number, first = 0): string[] {
  const log: string[] = [];
  const pieces = first > 0 ? [Buffer.from(input.subarray(0, first))] : [];
  for (let at = first; at < input.length; at += size) {
    pieces.push(Buffer.from(input.subarray(at, at + size)));
  }
  const bytes = new Pieces(pieces);
  if (meta.type === 'chunked') {
    if (meta.trailers === undefined) {
      readChunked(bytes, log);
    } else {
      readWithTrailers(bytes, meta.trailers, log);
    }
    return log;
  }
  const own = { ...limits, ...meta };
  const parser: HeadParser = new HeadParser(own, {
    selectServer(head) {
      const found = meta.servers?.[head.host];
      if (found !== undefined) {
        parser.limits = { ...own, ...found };
      }
      log.push(`server host=${quoted(head.host)} port=${head.port}`);
      return 0;
    },
    ignoredHeader(_head, line) {
      log.push(`ignored ${quoted(line)}`);
    },
  });
  while (bytes.left() && readRequest(bytes, parser, own, log)) {}
  return log;
}

/** The rest of the input, piece by piece. */
class Pieces {
  offset = 0;
  at = 0;
  readonly #pieces: Buffer[];

  constructor(pieces: Buffer[]) {
    this.#pieces = pieces;
  }

  left(): boolean {
    while (this.#pieces.length > 0 && this.at === this.#pieces[0]!.length) {
      this.#pieces.shift();
      this.at = 0;
    }
    return this.#pieces.length > 0;
  }

  get piece(): Buffer {
    return this.#pieces[0]!;
  }

  take(until: number): void {
    this.offset += until - this.at;
    this.at = until;
  }
}

function readRequest(bytes: Pieces, parser: HeadParser, own: HeadLimits, log: string[]): boolean {
  parser.reset(own);
  const { head } = parser;
  let code = HEAD_INCOMPLETE;
  while (code === HEAD_INCOMPLETE && bytes.left()) {
    code = parser.parse(bytes.piece, bytes.at, bytes.piece.length);
    bytes.take(code === HEAD_DONE ? head.end : bytes.piece.length);
  }
  if (code === HEAD_INCOMPLETE) {
    parser.abandon();
    log.push(`incomplete ${parser.inHeaders ? 'headers' : 'request line'} line=${quoted(head.line)}`);
    return false;
  }
  if (head.method !== '') {
    requestLine(head, log);
  }
  for (let i = 0; i < head.headers.length; i += 2) {
    log.push(`header ${quoted(head.headers[i]!)}: ${quoted(head.headers[i + 1]!)}`);
  }
  if (code !== HEAD_DONE) {
    log.push(`error ${code} ${quoted(head.error)}`);
    return false;
  }
  log.push(`off=${bytes.offset} head length=${head.length}${['', ' close', ' keep-alive'][head.connection]}`);
  if (head.chunked) {
    return readChunked(bytes, log);
  }
  if (head.contentLength >= 0) {
    return readLength(bytes, head.contentLength, log);
  }
  return head.version >= HTTP_11;
}

function requestLine(head: RequestHead, log: string[]): void {
  log.push(`line ${quoted(head.line)}`);
  const exten = head.exten === '' ? '' : ` exten=${quoted(head.exten)}`;
  const schema = head.schema === '' ? '' : ` schema=${quoted(head.schema)}`;
  const args = head.args === '' ? '' : ` args=${quoted(head.args)}`;
  log.push(`method=${quoted(head.method)} version=${head.version}${schema} uri=${quoted(head.uri)}${args}${exten}`);
}

function readLength(bytes: Pieces, length: number, log: string[]): boolean {
  let body = '';
  while (body.length < length && bytes.left()) {
    const end = Math.min(bytes.piece.length, bytes.at + length - body.length);
    body += bytes.piece.toString('latin1', bytes.at, end);
    bytes.take(end);
  }
  if (length > 0) {
    log.push(`off=${bytes.offset} body ${quoted(body)}${body.length < length ? ' incomplete' : ''}`);
  }
  return body.length === length;
}

function readChunked(bytes: Pieces, log: string[]): boolean {
  const decoder = new ChunkedBody(false);
  let body = '';
  let code = CHUNK_AGAIN;
  while (code === CHUNK_AGAIN && bytes.left()) {
    code = decoder.read(bytes.piece, bytes.at, bytes.piece.length);
    body += bytes.piece.toString('latin1', decoder.start, decoder.end);
    bytes.take(decoder.next);
  }
  log.push(`off=${bytes.offset} chunked body ${quoted(body)}${code === CHUNK_AGAIN ? ' incomplete' : ''}`);
  if (code !== CHUNK_AGAIN && code !== CHUNK_DONE) {
    log.push('error 400');
  }
  return code === CHUNK_DONE;
}

/** A body as a backend sends it, whose trailers are kept if they are not longer than `limit`. */
function readWithTrailers(bytes: Pieces, limit: number, log: string[]): void {
  const reader = new Http1Reader();
  const head = new UpstreamHead();
  const problems: string[] = [];
  const reporter = { log: (_level: unknown, text: string) => void problems.push(text.replace('upstream ', '')) };
  let body = '';
  const sink = { add: (piece: Buffer, start: number, end: number) => void (body += piece.toString('latin1', start, end)) };
  head.chunked = true;
  reader.expectBody(head, false, true, limit);
  let sound = true;
  while (sound && !reader.complete && bytes.left()) {
    sound = reader.body(head, reporter, sink, bytes.piece, bytes.at, bytes.piece.length);
    bytes.take(reader.complete ? reader.next : bytes.piece.length);
  }
  log.push(`${sound ? `off=${bytes.offset} ` : ''}chunked body ${quoted(body)}`);
  for (let i = 0; i < head.trailers.length; i += 3) {
    log.push(`trailer ${quoted(head.trailers[i]!)}: ${quoted(head.trailers[i + 2]!)}`);
  }
  if (!sound) {
    log.push(`error 400 ${quoted(problems.join(' '))}`);
  }
}
