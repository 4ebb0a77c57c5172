import { ChunkedDecoder } from '../../src/worker/http/chunked.js';
import { HEAD_AGAIN, HEAD_DONE, type HeadLimits, HeadParser } from '../../src/worker/http/head-parser.js';
import type { RequestHead } from '../../src/worker/http/request-head.js';
import { HTTP_11 } from '../../src/worker/http/request-line.js';

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

/** One line an event, the bytes of the case given to the parser in pieces of `size` bytes. */
export function eventLog(input: Buffer, meta: Meta, size: number): string[] {
  const log: string[] = [];
  const pieces: Buffer[] = [];
  for (let at = 0; at < input.length; at += size) pieces.push(Buffer.from(input.subarray(at, at + size)));
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
      log.push(`server host=${text(head.host)} port=${head.port}`);
      return 0;
    },
    ignoredHeader(_head, line) {
      log.push(`ignored ${text(line)}`);
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
    log.push(`incomplete ${parser.inHeaders ? 'headers' : 'request line'} line=${text(head.line)}`);
    return false;
  }
  if (head.version > 0) requestLine(head, log);
  for (let i = 0; i < head.headers.length; i += 2) log.push(`header ${text(head.headers[i]!)}: ${text(head.headers[i + 1]!)}`);
  if (code !== HEAD_DONE) {
    log.push(`error ${code} ${text(head.error)}`);
    return false;
  }
  log.push(`off=${bytes.offset} head length=${head.length}${['', ' close', ' keep-alive'][head.connection]}`);
  if (head.chunked) return readChunked(bytes, {}, log);
  if (head.contentLength >= 0) return readLength(bytes, head.contentLength, log);
  return head.version >= HTTP_11;
}

function requestLine(head: RequestHead, log: string[]): void {
  log.push(`line ${text(head.line)}`);
  const exten = head.exten === '' ? '' : ` exten=${text(head.exten)}`;
  const schema = head.schema === '' ? '' : ` schema=${text(head.schema)}`;
  const args = head.args === '' ? '' : ` args=${text(head.args)}`;
  log.push(`method=${text(head.method)} version=${head.version}${schema} uri=${text(head.uri)}${args}${exten}`);
}

function readLength(bytes: Pieces, length: number, log: string[]): boolean {
  let body = '';
  while (body.length < length && bytes.left()) {
    const end = Math.min(bytes.piece.length, bytes.at + length - body.length);
    body += bytes.piece.toString('latin1', bytes.at, end);
    bytes.take(end);
  }
  if (length > 0) log.push(`off=${bytes.offset} body ${text(body)}${body.length < length ? ' incomplete' : ''}`);
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
  log.push(`${off}chunked body ${text(body)}${decoder.done || status !== 0 ? '' : ' incomplete'}`);
  for (let i = 0; i < decoder.trailers.length; i += 2) log.push(`trailer ${text(decoder.trailers[i]!)}: ${text(decoder.trailers[i + 1]!)}`);
  if (status !== 0) log.push(`error ${status}${decoder.problem === '' ? '' : ` ${text(decoder.problem)}`}`);
  return decoder.done;
}

/** Text in quotes; long runs of one byte are shortened so that cases stay readable. */
function text(value: string): string {
  const short = value.replace(/([\s\S])\1{39,}/g, (run) => `${run[0]}*${run.length}`);
  return JSON.stringify(short).replace(/[\x7f-\xff]/g, (c) => `\\x${c.charCodeAt(0).toString(16)}`);
}
