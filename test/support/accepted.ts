import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import type { ConnectionHandle } from '../../src/shared/net/connection-handle.js';
import { bareSpec, ListenSocket, takeConnections } from '../../src/shared/net/listen-socket.js';
import type { Socket as AnySocket } from '../../src/shared/net/socket.js';
import { HandleSocket } from '../../src/worker/net/handle-socket.js';

/** Opens a connection to a port of its own, as workers accept it; resolves with its client. `accept` is given the server's side. */
export async function acceptOne(t: Test, accept: (socket: HandleSocket) => void): Promise<Socket> {
  const listening = ListenSocket.bind(bareSpec('ipv4', '127.0.0.1'));
  const server = createServer();
  const accepted = new Promise<void>((done) => {
    takeConnections(server, (handle: ConnectionHandle) => {
      accept(new HandleSocket(handle));
      done();
    });
  });
  listening.attach(server);
  await new Promise<void>((done, fail) => listening.open((error) => (error === undefined ? done() : fail(error))));
  const name: { port?: number } = {};
  listening.handle.getsockname!(name);
  const client = connect(name.port!, '127.0.0.1');
  client.on('error', () => {});
  t.teardown(() => {
    client.destroy();
    listening.close();
  });
  await Promise.all([accepted, once(client, 'connect')]);
  return client;
}

/** Reads on until the connection is closed; resolves with all that came (latin1). */
export async function readAll(client: Socket): Promise<string> {
  let text = '';
  client.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
  });
  client.resume();
  await once(client, 'close');
  return text;
}

/** Writes until the kernel takes no more; returns all of it. */
export function fill(socket: Pick<AnySocket, 'writeJoined'>): string {
  const piece = Buffer.alloc(64 * 1024, 'x');
  let sent = '';
  for (let flowing = true; flowing; ) {
    flowing = socket.writeJoined(`${sent.length}:`, piece, '\r\n');
    sent += `${sent.length}:${piece.toString('latin1')}\r\n`;
  }
  return sent;
}

/** Owns a connection, and notes what it is told of. */
export class NotingOwner {
  text = '';
  readonly events: string[] = [];
  #wake = (): void => {};

  socketReceived(bytes: Buffer, length: number): void {
    this.text += bytes.toString('latin1', 0, length);
    this.#wake();
  }
  socketEnded = (): void => this.note('ended');
  socketDrained = (): void => this.note('drained');
  socketClosed = (): void => this.note('closed');

  note(event: string): void {
    this.events.push(event);
    this.#wake();
  }

  /** Resolves once `test` holds, which is asked whenever something was noted. */
  async until(test: () => boolean): Promise<void> {
    while (!test()) {
      await new Promise<void>((done) => {
        this.#wake = done;
      });
    }
  }
}
