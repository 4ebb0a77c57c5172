import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { Test } from 'tap';
import { type BackendPlace, listenAsBackend } from './backend-server.js';
import { block, END_HEADERS, END_STREAM, type FieldText, type Frame, frame, Http2Client, T } from './http2-client.js';
import { waitFor } from './wait.js';

/** A request whose head came. */
export interface Http2Request {
  readonly connection: Http2Client;
  /** Which connection it was, counted from 1. */
  readonly nth: number;
  readonly id: number;
  readonly fields: ReadonlyMap<string, string>;
  /** Nothing follows the head. */
  readonly ended: boolean;
}

/** What an answer is made of: without `body` and `trailers` it is its head alone. */
export interface Http2Answer {
  readonly status?: number;
  readonly headers?: readonly FieldText[];
  readonly body?: string | Uint8Array;
  readonly trailers?: readonly FieldText[];
}

/** Bytes of the longest frame that everybody takes. */
const LONGEST = 16_384;

/** Sends a whole answer on a request's stream. */
export function answer({ connection, id }: Http2Request, { status = 200, headers = [], body, trailers }: Http2Answer): void {
  const last = (is: boolean): number => (is ? END_STREAM : 0);
  const frames = [
    frame(
      T.HEADERS,
      END_HEADERS | last(body === undefined && trailers === undefined),
      id,
      block([[':status', String(status)], ...headers]),
    ),
  ];
  if (body !== undefined) {
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : Buffer.from(body);
    for (let at = 0; at === 0 || at < bytes.length; at += LONGEST) {
      const ends = trailers === undefined && at + LONGEST >= bytes.length;
      frames.push(frame(T.DATA, last(ends), id, bytes.subarray(at, at + LONGEST)));
    }
  }
  if (trailers !== undefined) {
    frames.push(frame(T.HEADERS, END_HEADERS | END_STREAM, id, block(trailers)));
  }
  connection.send(...frames);
}

/** A backend that speaks HTTP/2 frame by frame. */
export interface Http2Origin {
  readonly port: number;
  readonly connections: readonly Http2Client[];
  /** All requests so far. */
  readonly requests: readonly Http2Request[];
  /** Waits until there were this many requests, and gives the last of them. */
  received(count: number): Promise<Http2Request>;
  stop(): Promise<void>;
}

/**
 * Starts a backend of whose requests `script` is told, once their heads are there. It says `settings` when a connection is opened, and
 * nothing else by itself.
 */
export async function startHttp2Origin(
  t: Test,
  script: (request: Http2Request) => void = () => {},
  options: BackendPlace & { readonly tls?: TlsOptions; readonly settings?: Uint8Array } = {},
): Promise<Http2Origin> {
  const connections: Http2Client[] = [];
  const requests: Http2Request[] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const nth = connections.length + 1;
    const seen = new Set<number>();
    const connection: Http2Client = new Http2Client(socket, ({ type, flags, id, fields }: Frame) => {
      if (fields === undefined || type !== T.HEADERS || seen.has(id)) {
        return;
      }
      seen.add(id);
      const request = { connection, nth, id, fields: new Map(fields), ended: (flags & END_STREAM) !== 0 };
      requests.push(request);
      script(request);
    });
    connections.push(connection);
    connection.send(frame(T.SETTINGS, 0, 0, options.settings ?? ''), frame(T.SETTINGS, 1, 0));
  };
  const server = options.tls === undefined ? createServer(serve) : createTlsServer({ ALPNProtocols: ['h2'], ...options.tls }, serve);
  const { port, stop } = await listenAsBackend(t, server, sockets, options);
  const received = async (count: number): Promise<Http2Request> => {
    await waitFor(() => requests.length >= count, { what: () => `request ${count}; there were ${requests.length}` });
    return requests[count - 1]!;
  };
  return { port, connections, requests, received, stop };
}

/** The data that came on a request's stream so far. */
export const dataOf = ({ connection, id }: Http2Request): string =>
  Buffer.concat(connection.frames.filter((f) => f.type === T.DATA && f.id === id).map(({ payload }) => payload)).toString('latin1');
