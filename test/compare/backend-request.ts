/** A request that a backend received, in whatever protocol. */
export interface BackendRequest {
  readonly protocol: 'http' | 'http2' | 'fastcgi' | 'scgi' | 'uwsgi' | 'memcached';
  readonly method: string;
  readonly target: string;
  /** All of it as a text to be compared: one line for each field or parameter, and the body. */
  readonly text: string;
  /** Its bytes on the connection. */
  readonly length: number;
}

/** The first request in the bytes of a connection; undefined while more must come. */
export function readRequest(bytes: Buffer): BackendRequest | undefined {
  if (bytes.length === 0) {
    return undefined;
  }
  if (bytes[0] === 1) {
    return readFastcgi(bytes);
  }
  if (bytes[0] === 0) {
    return readUwsgi(bytes);
  }
  if (bytes[0]! >= 48 && bytes[0]! <= 57) {
    return readScgi(bytes);
  }
  return bytes[0] === 0x67 ? readMemcached(bytes) : readHttp(bytes);
}

function readHttp(bytes: Buffer): BackendRequest | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n') + 4;
  if (headEnd === 3) {
    return undefined;
  }
  const head = bytes.toString('latin1', 0, headEnd);
  const [, method = '', target = ''] = /^(\S*) (\S*)/.exec(head) ?? [];
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  const end = /^transfer-encoding: *chunked/im.test(head) ? chunksEnd(bytes, headEnd) : headEnd + Number(length ?? 0);
  if (end === undefined || bytes.length < end) {
    return undefined;
  }
  const body = bytes.subarray(headEnd, end);
  return { protocol: 'http', method, target, text: head + plain(body, head), length: end };
}

// Methods have no small letters.
function readMemcached(bytes: Buffer): BackendRequest | undefined {
  const end = bytes.indexOf('\r\n') + 2;
  const text = bytes.toString('latin1', 0, end);
  return end === 1 ? undefined : { protocol: 'memcached', method: 'get', target: text.slice(4, -2), text, length: end };
}

/** Where chunks end. */
function chunksEnd(bytes: Buffer, start: number): number | undefined {
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line === -1) {
      return undefined;
    }
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    if (!(size > 0)) {
      return bytes.length < line + 4 ? undefined : line + 4;
    }
    at = line + 2 + size + 2;
  }
}

/** A body without the sizes of its chunks, which depend on how it came in. */
function plain(body: Buffer, head: string): string {
  if (!/^transfer-encoding: *chunked/im.test(head)) {
    return body.toString('latin1');
  }
  let text = '';
  for (let at = 0; ; ) {
    const line = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.toString('latin1', at, line), 16);
    if (!(size > 0)) {
      return text;
    }
    text += body.toString('latin1', line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

type Params = readonly (readonly [string, string])[];

const cgi = (protocol: BackendRequest['protocol'], params: Params, body: Buffer, length: number): BackendRequest => {
  const param = (wanted: string): string => params.find(([name]) => name === wanted)?.[1] ?? '';
  const text = `${params.map(([name, value]) => `${name}=${value}\n`).join('')}\n${body.toString('latin1')}`;
  return { protocol, method: param('REQUEST_METHOD'), target: param('REQUEST_URI'), text, length };
};

const contentLength = (params: Params): number => Number(params.find(([name]) => name === 'CONTENT_LENGTH')?.[1] ?? 0) || 0;

function readScgi(bytes: Buffer): BackendRequest | undefined {
  const colon = bytes.indexOf(':');
  const end = colon + 1 + Number(bytes.toString('latin1', 0, colon)) + 1;
  if (colon === -1 || bytes.length < end) {
    return undefined;
  }
  const words = bytes.toString('latin1', colon + 1, end - 2).split('\0');
  const params: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < words.length; i += 2) {
    params.push([words[i]!, words[i + 1]!]);
  }
  const whole = end + contentLength(params);
  return bytes.length < whole ? undefined : cgi('scgi', params, bytes.subarray(end, whole), whole);
}

function readUwsgi(bytes: Buffer): BackendRequest | undefined {
  const end = 4 + (bytes.length < 4 ? 0 : bytes.readUInt16LE(1));
  if (bytes.length < end || bytes.length < 4) {
    return undefined;
  }
  const params: (readonly [string, string])[] = [];
  for (let at = 4; at < end; ) {
    const text = (): string => {
      const length = bytes.readUInt16LE(at);
      at += 2 + length;
      return bytes.toString('latin1', at - length, at);
    };
    params.push([text(), text()]);
  }
  const whole = end + contentLength(params);
  return bytes.length < whole ? undefined : cgi('uwsgi', params, bytes.subarray(end, whole), whole);
}

function readFastcgi(bytes: Buffer): BackendRequest | undefined {
  const streams: [number, Buffer[]][] = [
    [4, []],
    [5, []],
  ];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt16BE(at + 4);
    const next = at + 8 + length + bytes[at + 6]!;
    if (bytes.length < next) {
      return undefined;
    }
    const type = bytes[at + 1];
    streams.find(([of]) => of === type)?.[1].push(bytes.subarray(at + 8, at + 8 + length));
    at = next;
    if (type === 5 && length === 0) {
      return cgi('fastcgi', fastcgiParams(Buffer.concat(streams[0]![1])), Buffer.concat(streams[1]![1]), at);
    }
  }
  return undefined;
}

function fastcgiParams(bytes: Buffer): Params {
  const params: (readonly [string, string])[] = [];
  let at = 0;
  const length = (): number => {
    const short = bytes[at]!;
    at += short < 128 ? 1 : 4;
    return short < 128 ? short : bytes.readUInt32BE(at - 4) & 0x7fffffff;
  };
  while (at < bytes.length) {
    const [name, value] = [length(), length()];
    params.push([bytes.toString('latin1', at, at + name), bytes.toString('latin1', at + name, at + name + value)]);
    at += name + value;
  }
  return params;
}

/** The records in which a FastCGI program answers. */
export function fastcgiRecords(content: Buffer): Buffer {
  const record = (type: number, bytes: Buffer): Buffer => {
    const head = Buffer.from([1, type, 0, 1, 0, 0, 0, 0]);
    head.writeUInt16BE(bytes.length, 4);
    return Buffer.concat([head, bytes]);
  };
  const pieces: Buffer[] = [];
  for (let at = 0; at < content.length; at += 20_000) {
    pieces.push(record(6, content.subarray(at, at + 20_000)));
  }
  return Buffer.concat([...pieces, record(6, Buffer.alloc(0)), record(3, Buffer.alloc(8))]);
}
