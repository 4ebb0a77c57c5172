import type { Server, Socket } from 'node:net';
import type { Test } from 'tap';

/** Where a backend of a test listens. */
export interface BackendPlace {
  readonly port?: number;
  readonly path?: string;
}

/** A backend that listens. */
export interface BackendServer {
  /** 0 when it listens on a path. */
  readonly port: number;
  /** Closes the port and every connection. */
  stop(): Promise<void>;
}

/**
 * Lets a backend listen on a port of 127.0.0.1, a free one unless it is named, or on a path; it stops with the test. `sockets`: its
 * connections.
 */
export async function listenAsBackend(t: Test, server: Server, sockets: ReadonlySet<Socket>, place: BackendPlace): Promise<BackendServer> {
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(
      place.path === undefined ? { port: place.port ?? 0, host: '127.0.0.1' } : { path: place.path, writableAll: true, readableAll: true },
      done,
    );
  });
  const address = server.address();
  const stop = (): Promise<void> =>
    new Promise((done) => {
      for (const socket of sockets) {
        socket.destroy();
      }
      if (server.listening) {
        server.close(() => done());
      } else {
        done();
      }
    });
  t.teardown(stop);
  return { port: typeof address === 'object' && address !== null ? address.port : 0, stop };
}
