import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { Test } from 'tap';
import { watchForPoison } from './poison.js';

/** A server of TCP for the tests of `stream`. */
export interface TcpBackend {
  readonly port: number;
  /** The connections it got, the latest last. */
  readonly sockets: readonly Socket[];
  /** What each of them brought so far (latin1). */
  readonly received: readonly string[];
  close(): void;
}

/** Starts one that does with each connection what `serve` says; it may be half open. With `tls` it speaks TLS. */
export async function startTcpBackend(t: Test, serve: (socket: Socket) => void, tls?: TlsOptions): Promise<TcpBackend> {
  const sockets: Socket[] = [];
  const received: string[] = [];
  const take = (socket: Socket): void => {
    const i = sockets.push(socket) - 1;
    received.push('');
    watchForPoison(socket, 'what a backend received');
    socket.on('data', (bytes: Buffer) => (received[i] += bytes.toString('latin1')));
    socket.on('error', () => {});
    serve(socket);
  };
  const server: Server =
    tls === undefined ? createServer({ allowHalfOpen: true }, take) : createTlsServer({ allowHalfOpen: true, ...tls }, take);
  server.on('tlsClientError', () => {});
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = (): void => {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
  };
  t.teardown(close);
  return { port: (server.address() as { port: number }).port, sockets, received, close };
}

/** Sends back what comes, and ends when the client does. */
export const echo = (socket: Socket): void => void socket.pipe(socket);
