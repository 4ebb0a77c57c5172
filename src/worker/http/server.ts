import net, { type Socket } from 'node:net';
import type { Server, WorkerProcess } from '../worker-process.js';

/** Serves a fixed answer on every socket; stands here until the HTTP engine does. */
export function serve(worker: WorkerProcess): Server {
  const connections = new Set<Socket>();
  let drained: (() => void) | undefined;
  const check = (): void => {
    if (connections.size === 0) {
      drained?.();
    }
  };
  for (const socket of worker.sockets) {
    const server = net.createServer({ noDelay: true }, (connection) => {
      connections.add(connection);
      connection.on('error', () => connection.destroy());
      connection.on('close', () => {
        connections.delete(connection);
        check();
      });
      let head = '';
      connection.on('data', (data) => {
        head += data.toString('latin1');
        if (!head.includes('\r\n\r\n')) {
          return;
        }
        const wait = Number(/[?&]wait=(\d+)/.exec(head)?.[1] ?? 0);
        const keep = /^connection: *keep-alive/im.test(head) && drained === undefined;
        head = '';
        const body = `${process.pid} ${worker.generation}\n`;
        const text = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: ${keep ? 'keep-alive' : 'close'}\r\n\r\n${body}`;
        setTimeout(() => (keep ? connection.write(text) : connection.end(text)), wait);
      });
    });
    socket.attach(server);
  }
  return {
    start() {},
    drain(done) {
      drained = done;
      check();
    },
    terminate() {
      for (const connection of connections) {
        connection.destroy();
      }
    },
  };
}
