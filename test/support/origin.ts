import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { Test } from 'tap';
import { listenAsBackend } from './backend-server.js';
import { watchForPoison } from './poison.js';
import { waitFor } from './wait.js';

/** A request as the origin received it. Texts have one character for a byte. */
export interface OriginRequest {
  readonly method: string;
  readonly target: string;
  /** `HTTP/1.0` or `HTTP/1.1`. */
  readonly version: string;
  /** In the order and case of the wire. */
  readonly headers: readonly (readonly [string, string])[];
  /** The values of the headers of this name, joined by a comma; undefined without any. */
  header(name: string): string | undefined;
  /** Without the framing of chunks. */
  readonly body: Buffer;
  /** The request line and headers as they came. */
  readonly head: string;
  /** Which connection carried it, counted from 1. */
  readonly connection: number;
  /** Which request of that connection it was, counted from 1. */
  readonly nth: number;
}

/** What an origin answers: raw bytes, or the parts of an answer. */
export type OriginAnswer =
  | string
  | Uint8Array
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
      readonly body?: string | Uint8Array;
      /** Closes the connection after the answer; without it only a request for keep-alive keeps it open. */
      readonly close?: boolean;
    };

/** The connection of the request, for answers that come in pieces, late, or not at all. */
export interface Reply {
  readonly socket: Socket;
  /** Sends bytes; resolves when the system took them. */
  write(bytes: string | Uint8Array): Promise<void>;
  /** Ends the stream. */
  end(bytes?: string | Uint8Array): undefined;
  /** Breaks the connection with a reset. */
  reset(): undefined;
  sleep(milliseconds: number): Promise<void>;
  /** Resolves when the client of the origin goes away. */
  gone(): Promise<void>;
}

/** Answers a request: by its return value, or by `reply` when it returns nothing. */
export type OriginHandler = (request: OriginRequest, reply: Reply) => OriginAnswer | undefined | Promise<OriginAnswer | undefined>;

export interface OriginOptions {
  /** Listens on this path in place of a port. */
  readonly path?: string;
  /** Speaks TLS. */
  readonly tls?: TlsOptions;
  /** Called with each new connection; may write, pause or reset it before a request comes. */
  readonly onConnection?: (socket: Socket, nth: number) => void;
  /** A port that the caller reserved; the system chooses unless told. */
  readonly port?: number;
}

/** A backend under the control of a test. */
export interface Origin {
  readonly port: number;
  /** All requests so far, in the order in which their heads were complete. */
  readonly requests: OriginRequest[];
  /** How many connections were accepted so far. */
  connections(): number;
  /** How many of them are open. */
  open(): number;
  /** Waits until there were this many requests, and gives the last of them. */
  received(count: number): Promise<OriginRequest>;
  /** Replaces the script. */
  answer(handler: OriginHandler | OriginAnswer): void;
  /** Closes the port and every connection. */
  stop(): Promise<void>;
}

const toBuffer = (bytes: string | Uint8Array): Buffer => (typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes));

/**
 * Starts a backend on a free port of 127.0.0.1 that answers each request with what `script` says, and stops it with the test. It
 * speaks HTTP/1.0 and 1.1 with keep-alive and takes request bodies by length or in chunks; everything else is the script's.
 */
export async function startOrigin(t: Test, script: OriginHandler | OriginAnswer, options: OriginOptions = {}): Promise<Origin> {
  let handler = asHandler(script);
  let accepted = 0;
  const sockets = new Set<Socket>();
  const requests: OriginRequest[] = [];

  const serve = (socket: Socket): void => {
    const connection = ++accepted;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    watchForPoison(socket, 'what an origin received');
    options.onConnection?.(socket, connection);
    serveRequests(socket, connection, requests, (request, reply) => handler(request, reply));
  };
  const server: NetServer = options.tls
    ? createTlsServer(options.tls, serve).on('tlsClientError', () => {})
    : createServer({ allowHalfOpen: true, noDelay: true }, serve);
  const { port, stop } = await listenAsBackend(t, server, sockets, options);

  return {
    port,
    requests,
    connections: () => accepted,
    open: () => sockets.size,
    received: (count) => waitFor(() => requests[count - 1], { what: () => `request ${count} at the origin; it has ${requests.length}` }),
    answer(next) {
      handler = asHandler(next);
    },
    stop,
  };
}

function asHandler(script: OriginHandler | OriginAnswer): OriginHandler {
  return typeof script === 'function' ? script : () => script;
}

function serveRequests(socket: Socket, connection: number, requests: OriginRequest[], handle: OriginHandler): void {
  let received: Buffer = Buffer.alloc(0);
  let nth = 0;
  let busy = false;
  const reply = makeReply(socket);

  const advance = async (): Promise<void> => {
    if (busy) {
      return;
    }
    busy = true;
    try {
      for (;;) {
        const parsed = parseRequest(received, connection, nth + 1);
        if (parsed === undefined) {
          break;
        }
        nth++;
        received = received.subarray(parsed.end);
        requests.push(parsed.request);
        const answer = await handle(parsed.request, reply);
        if (answer !== undefined) {
          await sendAnswer(answer, parsed.request, reply);
        }
      }
    } finally {
      busy = false;
      if (socket.readableEnded) {
        socket.end();
      }
    }
  };
  socket.on('data', (piece: Buffer) => {
    received = Buffer.concat([received, piece]);
    void advance();
  });
  socket.once('end', () => {
    if (!busy) {
      socket.end();
    }
  });
}

function makeReply(socket: Socket): Reply {
  return {
    socket,
    write: (bytes) => new Promise((done) => (socket.writable ? socket.write(toBuffer(bytes), () => done()) : done())),
    end: (bytes) => void (bytes === undefined ? socket.end() : socket.end(toBuffer(bytes))),
    reset: () => void socket.resetAndDestroy(),
    sleep: (milliseconds) => sleep(milliseconds),
    gone: () =>
      new Promise((done) => {
        if (socket.destroyed || socket.readableEnded) {
          done();
        }
        socket.once('close', done).once('end', done);
      }),
  };
}

async function sendAnswer(answer: OriginAnswer, request: OriginRequest, reply: Reply): Promise<void> {
  if (typeof answer === 'string' || answer instanceof Uint8Array) {
    await reply.write(answer);
    if (!/^content-length:|^transfer-encoding:|^HTTP\/\S+ (204|304)/im.test(toBuffer(answer).toString('latin1'))) {
      reply.end();
    }
    return;
  }
  const { status = 200, headers = {}, body = '' } = answer;
  const bytes = toBuffer(body);
  const wanted = request.header('connection')?.toLowerCase() ?? '';
  const keep = answer.close !== true && (request.version === 'HTTP/1.1' ? !wanted.includes('close') : wanted.includes('keep-alive'));
  const has = (name: string) => Object.keys(headers).some((key) => key.toLowerCase() === name);
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`));
  if (!has('content-length') && !has('transfer-encoding') && status !== 204 && status !== 304) {
    lines.push(`Content-Length: ${bytes.length}\r\n`);
  }
  if (!has('connection')) {
    lines.push(`Connection: ${keep ? 'keep-alive' : 'close'}\r\n`);
  }
  const head = `HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n`;
  await reply.write(Buffer.concat([toBuffer(head), request.method === 'HEAD' ? Buffer.alloc(0) : bytes]));
  if (!keep) {
    reply.end();
  }
}

function parseRequest(bytes: Buffer, connection: number, nth: number): { request: OriginRequest; end: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) {
    return undefined;
  }
  const head = bytes.toString('latin1', 0, headEnd + 4);
  const [requestLine, ...lines] = head.slice(0, -4).split('\r\n');
  const [method = '', target = '', version = ''] = requestLine!.split(' ');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const header = (name: string): string | undefined => {
    const values = headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
    return values.length === 0 ? undefined : values.join(', ');
  };
  const body =
    header('transfer-encoding') === 'chunked'
      ? chunkedBody(bytes, headEnd + 4)
      : sizedBody(bytes, headEnd + 4, Number(header('content-length') ?? 0));
  return body && { request: { method, target, version, headers, header, body: body.body, head, connection, nth }, end: body.end };
}

function sizedBody(bytes: Buffer, start: number, length: number): { body: Buffer; end: number } | undefined {
  return bytes.length < start + length ? undefined : { body: bytes.subarray(start, start + length), end: start + length };
}

function chunkedBody(bytes: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const pieces: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) {
      return undefined;
    }
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (length === 0) {
      const last = bytes.indexOf('\r\n\r\n', lineEnd);
      return last < 0 ? undefined : { body: Buffer.concat(pieces), end: last + 4 };
    }
    at = lineEnd + 2 + length + 2;
    if (!(at <= bytes.length)) {
      return undefined;
    }
    pieces.push(bytes.subarray(lineEnd + 2, at - 2));
  }
}
