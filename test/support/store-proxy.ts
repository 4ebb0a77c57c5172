import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** What stands between a machine and a store. */
export interface StoreProxy {
  readonly port: number;
  /** How long (milliseconds) bytes are on their way in each direction. */
  delay: number;
  /** The number of bytes that come at once. */
  piece: number;
  /** Nothing goes through, in either direction, and nobody is told; what came meanwhile arrives afterwards. */
  cut(): void;
  heal(): void;
}

/** Starts one before a port of 127.0.0.1. */
export async function startStoreProxy(t: Test, to: number, delay = 0): Promise<StoreProxy> {
  const sockets = new Set<Socket>();
  let whole = true;
  const proxy = { delay, piece: Number.POSITIVE_INFINITY };
  /** Bytes keep their order, also when the delay changes. */
  const carry = (from: Socket, other: Socket): void => {
    const waiting: { bytes: Buffer; at: number }[] = [];
    const send = (): void => {
      let written = 0;
      while (whole && waiting.length > 0 && waiting[0]!.at <= performance.now() && written < proxy.piece) {
        const first = waiting[0]!;
        const bytes = first.bytes.subarray(0, proxy.piece);
        written += bytes.length;
        first.bytes = first.bytes.subarray(bytes.length);
        if (first.bytes.length === 0) {
          waiting.shift();
        }
        if (!other.destroyed) {
          other.write(bytes);
        }
      }
      if (waiting.length > 0) {
        setTimeout(send, whole ? Math.max(0, waiting[0]!.at - performance.now()) : 5);
      }
    };
    from.on('data', (bytes) => {
      if (waiting.push({ bytes, at: performance.now() + proxy.delay }) === 1) {
        send();
      }
    });
  };
  const server = createServer((socket) => {
    const store = connect(to, '127.0.0.1');
    for (const one of [socket, store]) {
      sockets.add(one);
      one
        .setNoDelay()
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one);
          socket.destroy();
          store.destroy();
        });
    }
    carry(socket, store);
    carry(store, socket);
  });
  t.teardown(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
    whole = true;
    server.close();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return Object.assign(proxy, {
    port: (server.address() as { port: number }).port,
    cut: () => void (whole = false),
    heal: () => void (whole = true),
  });
}
