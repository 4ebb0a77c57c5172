import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { Test } from 'tap';
import { waitFor } from './wait.js';

/** A backend of datagrams. */
export interface DatagramBackend {
  readonly port: number;
  readonly socket: Socket;
  /** What has come, in latin1, and from which ports. */
  readonly received: readonly string[];
  readonly peers: readonly number[];
}

/** What a backend does with a datagram: `answer` sends one back. */
export type Answering = (bytes: Buffer, answer: (bytes: string | Uint8Array) => void, from: RemoteInfo) => void;

/** A backend that sends back what it gets. */
export const echo: Answering = (bytes, answer) => answer(bytes);

/** Starts a backend on a port of 127.0.0.1, a free one unless it is named; it stops with the test. */
export async function startDatagramBackend(t: Test, use: Answering, port = 0): Promise<DatagramBackend> {
  const socket = createSocket('udp4');
  const received: string[] = [];
  const peers: number[] = [];
  socket.on('message', (bytes, from) => {
    received.push(bytes.toString('latin1'));
    peers.push(from.port);
    use(bytes, (answer) => socket.send(answer, from.port, from.address), from);
  });
  await new Promise<void>((done) => socket.bind(port, '127.0.0.1', done));
  t.teardown(() => new Promise<void>((done) => socket.close(() => done())));
  return { port: socket.address().port, socket, received, peers };
}

/** A client of datagrams with a port of its own. */
export class DatagramPeer {
  readonly #socket: Socket;
  readonly #received: string[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (bytes) => this.#received.push(bytes.toString('latin1')));
    socket.on('error', () => {});
  }

  /** Talks to a port of 127.0.0.1, or of `host`, perhaps from a given address and port. What others send does not come. */
  static async connect(
    t: Test,
    to: number,
    from: { readonly address?: string; readonly port?: number } = {},
    host = '127.0.0.1',
  ): Promise<DatagramPeer> {
    const socket = createSocket('udp4');
    t.teardown(() => new Promise<void>((done) => socket.close(() => done())));
    await new Promise<void>((done) => socket.bind(from.port ?? 0, from.address ?? '127.0.0.1', done));
    await new Promise<void>((done) => socket.connect(to, host, done));
    return new DatagramPeer(socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** What has come and was not taken. */
  get received(): readonly string[] {
    return this.#received;
  }

  send(bytes: string | Uint8Array): this {
    this.#socket.send(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** Waits for the next datagram. */
  async next(): Promise<string> {
    await waitFor(() => this.#received.length > 0, { what: 'a datagram' });
    return this.#received.shift()!;
  }

  /** Sends one, and waits for the next that comes. */
  ask(bytes: string | Uint8Array): Promise<string> {
    return this.send(bytes).next();
  }
}
