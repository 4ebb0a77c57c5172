import { chunked, splitField } from './stub-http1.js';

/** A response as the client gets it. Texts are latin1. */
export interface RehearsedResponse {
  /** 0: the connection was closed without an answer. */
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Without its chunks. */
  readonly body: Buffer;
  /** Responses that came before it, such as `103 Early Hints`. */
  readonly informational: readonly { readonly status: number; readonly headers: readonly (readonly [string, string])[] }[];
}

/** Reads what the server sent for one request. `bodiless`: a body cannot follow, whatever the head says. */
export function readResponse(bytes: Buffer, bodiless: boolean): RehearsedResponse {
  const informational: { status: number; headers: (readonly [string, string])[] }[] = [];
  for (let at = 0; ; ) {
    const headEnd = bytes.indexOf('\r\n\r\n', at);
    if (headEnd === -1 || bytes.toString('latin1', at, at + 5) !== 'HTTP/') {
      // The whole answer to HTTP/0.9 is its body.
      return { status: bytes.length > at ? 200 : 0, reason: '', headers: [], body: bytes.subarray(at), informational };
    }
    const [line = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n');
    const [, status = '0', reason = ''] = /^\S+ (\d+) ?(.*)$/.exec(line) ?? [];
    const headers = lines.map(splitField);
    at = headEnd + 4;
    if (status.startsWith('1') && status !== '101') {
      informational.push({ status: Number(status), headers });
      continue;
    }
    const isChunked = headers.some(([name, value]) => name.toLowerCase() === 'transfer-encoding' && value.toLowerCase() === 'chunked');
    const rest = bytes.subarray(at);
    const body = bodiless ? Buffer.alloc(0) : isChunked ? (chunked(bytes, at)?.bytes ?? rest) : rest;
    return { status: Number(status), reason, headers, body, informational };
  }
}
