/** A parsed answer of a server, or what there is of it. Texts have one character for a byte. */
export interface Response {
  /** `HTTP/1.1`; empty for an answer of HTTP/0.9, which is only a body. */
  readonly version: string;
  /** 0 without a status line. */
  readonly status: number;
  readonly reason: string;
  /** In the order and case of the wire. */
  readonly headers: readonly (readonly [string, string])[];
  /** The value of the only header of this name (in any case); undefined when absent, an Error when it is there twice. */
  header(name: string): string | undefined;
  /** All values of the headers of this name. */
  all(name: string): string[];
  /** Without the framing of chunks. */
  readonly body: Buffer;
  /** The body as text. */
  readonly text: string;
  /** Trailer fields after the last chunk. */
  readonly trailers: readonly (readonly [string, string])[];
  /** The status line and headers as they came, with the empty line. */
  readonly head: string;
  /** False when the connection ended before the body was whole. */
  readonly complete: boolean;
  /** Bytes on the wire. */
  readonly length: number;
  /** Interim answers (100, 103) that came before. */
  readonly interim: readonly Response[];
}

interface Body {
  readonly body: Buffer;
  readonly end: number;
  readonly complete: boolean;
  readonly trailers: readonly (readonly [string, string])[];
}

/**
 * Reads one answer from the start of `bytes`. Gives undefined while more must come; `ended` says that nothing will.
 * Throws when the bytes cannot be an answer, so that a broken frame fails a test.
 */
export function parseResponse(bytes: Buffer, method: string, ended: boolean): Response | undefined {
  if (bytes.length === 0) {
    return undefined;
  }
  const start = bytes.toString('latin1', 0, 5);
  if (!'HTTP/'.startsWith(start)) {
    return ended ? new ParsedResponse('', '', [], { body: bytes, end: bytes.length, complete: true, trailers: [] }) : undefined;
  }
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) {
    if (ended) {
      throw new Error(`the connection ended within a response head: ${JSON.stringify(bytes.toString('latin1'))}`);
    }
    return undefined;
  }
  const head = bytes.toString('latin1', 0, headEnd + 4);
  const [statusLine, ...lines] = head.slice(0, -4).split('\r\n');
  const headers = parseFields(lines);
  const status = Number(/^HTTP\/\d\.\d (\d{3})( |$)/.exec(statusLine!)?.[1]);
  if (!status) {
    throw new Error(`not a status line: ${JSON.stringify(statusLine)}`);
  }
  const body = readBody(bytes, head.length, method, status, headers, ended);
  return body && new ParsedResponse(head, statusLine!, headers, body);
}

function parseFields(lines: readonly string[]): [string, string][] {
  return lines.map((line) => {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/.exec(line);
    if (match === null) {
      throw new Error(`not a header line: ${JSON.stringify(line)}`);
    }
    return [match[1]!, match[2]!];
  });
}

function readBody(
  bytes: Buffer,
  start: number,
  method: string,
  status: number,
  headers: [string, string][],
  ended: boolean,
): Body | undefined {
  const field = (name: string) => headers.find(([key]) => key.toLowerCase() === name)?.[1];
  const none = method === 'HEAD' || status === 204 || status === 304 || (status < 200 && status !== 101);
  if (none) {
    return { body: Buffer.alloc(0), end: start, complete: true, trailers: [] };
  }
  if (field('transfer-encoding')?.toLowerCase() === 'chunked') {
    return readChunks(bytes, start, ended);
  }
  const length = field('content-length');
  if (length !== undefined) {
    if (!/^\d+$/.test(length)) {
      throw new Error(`Content-Length: ${length}`);
    }
    const end = start + Number(length);
    if (bytes.length < end && !ended) {
      return undefined;
    }
    return { body: bytes.subarray(start, end), end: Math.min(end, bytes.length), complete: bytes.length >= end, trailers: [] };
  }
  return ended ? { body: bytes.subarray(start), end: bytes.length, complete: true, trailers: [] } : undefined;
}

function readChunks(bytes: Buffer, start: number, ended: boolean): Body | undefined {
  const pieces: Buffer[] = [];
  const cut = (): Body | undefined =>
    ended ? { body: Buffer.concat(pieces), end: bytes.length, complete: false, trailers: [] } : undefined;
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) {
      return cut();
    }
    const size = bytes.toString('latin1', at, lineEnd);
    if (!/^[0-9a-f]+$/i.test(size)) {
      throw new Error(`not a chunk size: ${JSON.stringify(size)}`);
    }
    const length = Number.parseInt(size, 16);
    at = lineEnd + 2;
    if (length === 0) {
      const last = bytes.indexOf('\r\n\r\n', lineEnd);
      if (last < 0) {
        return cut();
      }
      const lines = last === lineEnd ? [] : bytes.toString('latin1', at, last).split('\r\n');
      return { body: Buffer.concat(pieces), end: last + 4, complete: true, trailers: parseFields(lines) };
    }
    pieces.push(bytes.subarray(at, at + length));
    if (bytes.length < at + length + 2) {
      return cut();
    }
    if (bytes.toString('latin1', at + length, at + length + 2) !== '\r\n') {
      throw new Error('a chunk does not end where it should');
    }
    at += length + 2;
  }
}

class ParsedResponse implements Response {
  readonly version: string;
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  readonly trailers: readonly (readonly [string, string])[];
  readonly head: string;
  readonly complete: boolean;
  readonly length: number;
  readonly interim: readonly Response[] = [];

  constructor(head: string, statusLine: string, headers: readonly (readonly [string, string])[], { body, end, complete, trailers }: Body) {
    const [, version = '', status = '0', reason = ''] = /^(\S+) (\d+) ?(.*)$/.exec(statusLine) ?? [];
    this.version = version;
    this.status = Number(status);
    this.reason = reason;
    this.headers = headers;
    this.body = body;
    this.trailers = trailers;
    this.head = head;
    this.complete = complete;
    this.length = end;
  }

  get text(): string {
    return this.body.toString('latin1');
  }

  header(name: string): string | undefined {
    const values = this.all(name);
    if (values.length > 1) {
      throw new Error(`${values.length} headers ${name}: ${values.join(' | ')}`);
    }
    return values[0];
  }

  all(name: string): string[] {
    return this.headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  }
}

/** The same answer with the interim ones that came before it. */
export function withInterim(response: Response, interim: readonly Response[]): Response {
  return Object.assign(response, { interim });
}
