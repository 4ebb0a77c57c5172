import { ChunkedDecoder } from '../../src/worker/http/syntax/chunked.js';
import { HEAD_AGAIN, HEAD_DONE, type HeadLimits, HeadParser } from '../../src/worker/http/syntax/head-parser.js';
import type { RequestHead } from '../../src/worker/http/syntax/request-head.js';
import { HTTP_11 } from '../../src/worker/http/syntax/request-line.js';
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
  for (let at = first; at < input.length; at += size) pieces.push(Buffer.from(input.subarray(at, at + size)));
  const bytes = new Pieces(pieces);
  if (meta.type === 'chunked') {
    readChunked(bytes, meta, log);
    return log;
  }
  const own = { ...limits, ...meta };
  const parser: HeadParser = new HeadParser(own, {
    selectServer(head) {
      const found = meta.servers?.[head.host];
      if (found !== undefined) parser.limits = { ...own, ...found };
      log.push(`server host=${quoted(head.host)} port=${head.port}`);
      return 0;
    },
    ignoredHeader(_head, line) {
      log.push(`ignored ${quoted(line)}`);
    },
  });
  while (bytes.left() && readRequest(bytes, parser, own, log));
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
  let code = HEAD_AGAIN;
  while (code === HEAD_AGAIN && bytes.left()) {
    code = parser.parse(bytes.piece, bytes.at, bytes.piece.length);
    bytes.take(code === HEAD_DONE ? head.end : bytes.piece.length);
  }
  if (code === HEAD_AGAIN) {
    parser.abandon();
    log.push(`incomplete ${parser.inHeaders ? 'headers' : 'request line'} line=${quoted(head.line)}`);
    return false;
  }
  if (head.method !== '') requestLine(head, log);
  for (let i = 0; i < head.headers.length; i += 2) log.push(`header ${quoted(head.headers[i]!)}: ${quoted(head.headers[i + 1]!)}`);
  if (code !== HEAD_DONE) {
    log.push(`error ${code} ${quoted(head.error)}`);
    return false;
  }
  log.push(`off=${bytes.offset} head length=${head.length}${['', ' close', ' keep-alive'][head.connection]}`);
  if (head.chunked) return readChunked(bytes, {}, log);
  if (head.contentLength >= 0) return readLength(bytes, head.contentLength, log);
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
  if (length > 0) log.push(`off=${bytes.offset} body ${quoted(body)}${body.length < length ? ' incomplete' : ''}`);
  return body.length === length;
}

function readChunked(bytes: Pieces, meta: Meta, log: string[]): boolean {
  const decoder = new ChunkedDecoder(meta.trailers ?? 0);
  let body = '';
  let status = 0;
  while (!decoder.done && status === 0 && bytes.left()) {
    status = decoder.read(bytes.piece, bytes.at, bytes.piece.length);
    bytes.take(decoder.next);
    if (decoder.piece !== null) body += decoder.piece.toString('latin1');
  }
  const off = decoder.problem === '' ? `off=${bytes.offset} ` : '';
  log.push(`${off}chunked body ${quoted(body)}${decoder.done || status !== 0 ? '' : ' incomplete'}`);
  for (let i = 0; i < decoder.trailers.length; i += 2)
    log.push(`trailer ${quoted(decoder.trailers[i]!)}: ${quoted(decoder.trailers[i + 1]!)}`);
  if (status !== 0) log.push(`error ${status}${decoder.problem === '' ? '' : ` ${quoted(decoder.problem)}`}`);
  return decoder.done;
}
