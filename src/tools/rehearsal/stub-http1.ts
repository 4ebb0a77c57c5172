import { headerValue } from './field-values.js';
import type { StubChannel, StubReader } from './stub-channel.js';

/** Reads HTTP/1 requests, and answers them. */
export function http1Stub(channel: StubChannel): StubReader {
  let held: Buffer = Buffer.alloc(0);
  return {
    written(bytes) {
      held = Buffer.concat([held, bytes]);
      for (let used = read(held, channel); used > 0; used = read(held, channel)) {
        held = held.subarray(used);
      }
    },
  };
}

/** Reads one request; returns how long it is, or 0 when it is not whole. */
function read(bytes: Buffer, channel: StubChannel): number {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) {
    return 0;
  }
  const [line = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = lines.map(splitField);
  const bodyStart = headEnd + 4;
  const body =
    headerValue(headers, 'transfer-encoding') === undefined
      ? fixed(bytes, bodyStart, Number(headerValue(headers, 'content-length') ?? 0))
      : chunked(bytes, bodyStart);
  if (body === undefined) {
    return 0;
  }
  const [method = '', uri = '', version = ''] = line.split(' ');
  const answer = channel.answer({ protocol: 'http', method, uri, headers, body: body.bytes });
  if (answer !== undefined) {
    const keeps = version === 'HTTP/1.1' && headerValue(headers, 'connection') !== 'close';
    const bodiless = method === 'HEAD' || answer.status === 204 || answer.status === 304 || answer.status < 200;
    const framed = bodiless || answer.headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
    let head = `HTTP/1.1 ${answer.status} ${answer.status === 200 ? 'OK' : 'Stub'}\r\n`;
    for (const [name, text] of framed ? answer.headers : [...answer.headers, ['Content-Length', `${answer.body.length}`] as const]) {
      head += `${name}: ${text}\r\n`;
    }
    channel.send(Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), bodiless ? Buffer.alloc(0) : answer.body]));
    if (!keeps || answer.status === 101) {
      channel.end();
    }
  }
  return body.end;
}

/** A header line's name and value. */
export function splitField(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

interface Body {
  readonly bytes: Buffer;
  readonly end: number;
}

function fixed(bytes: Buffer, start: number, length: number): Body | undefined {
  const end = start + length;
  return bytes.length < end ? undefined : { bytes: bytes.subarray(start, end), end };
}

/** Takes chunks off a body; undefined while it is not whole. */
export function chunked(bytes: Buffer, start: number): Body | undefined {
  const pieces: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) {
      return undefined;
    }
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16) || 0;
    at = lineEnd + 2;
    if (size === 0) {
      const end = bytes.toString('latin1', at, at + 2) === '\r\n' ? at + 2 : bytes.indexOf('\r\n\r\n', at) + 4;
      return end < at + 2 || end > bytes.length ? undefined : { bytes: Buffer.concat(pieces), end };
    }
    if (bytes.length < at + size + 2) {
      return undefined;
    }
    pieces.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
}
