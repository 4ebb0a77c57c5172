import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { DatagramHandle } from '../../src/shared/net/datagram-handle.js';
import { HandleUdpSocket } from '../../src/worker/net/handle-udp-socket.js';
import { contextAddress } from '../../src/worker/net/openssl/context-address.js';
import { prepareQuicContext } from '../../src/worker/net/openssl/quic-handshake.js';
import { quicCalls } from '../../src/worker/net/openssl/quic-library.js';
import type { QuicConnection, QuicConnectionHandler, QuicEnd, QuicStream, QuicStreamHandler } from '../../src/worker/net/quic/contract.js';
import { QuicEndpoint } from '../../src/worker/net/quic/endpoint.js';
import type { QuicClient, QuicServer, QuicSettings } from '../../src/worker/net/quic/host.js';
import { RoutedIds } from '../../src/worker/net/quic/routed-ids.js';
import { AddressTokens } from '../../src/worker/net/quic/tokens.js';
import { setUdpOptions } from '../../src/worker/net/udp-options.js';
import type { UdpSocket } from '../../src/worker/net/udp-socket.js';
import { UringUdpSocket } from '../../src/worker/net/uring/uring-udp-socket.js';
import { certs } from './certs.js';
import { ring } from './ring.js';

export const HQ_SETTINGS: QuicSettings = {
  streams: { bidi: 128, uni: 3, window: 65536, connectionWindow: 1024 * 1024 },
  idleTimeout: 30_000,
  handshakeTimeout: 10_000,
  idLimit: 2,
  retry: false,
  segments: true,
};

/** What an {@link HqEndpoint} has seen. */
export interface HqSeen {
  readonly ends: QuicEnd[];
  readonly failures: string[];
  readonly requests: string[];
  connections: number;
  early: number;
}

/**
 * HTTP/0.9 over QUIC in this process: a request for `/NUMBER` brings so many bytes, one with a body its length. Of HTTP/3, every request is
 * answered with {@link HqEndpoint.size} bytes.
 */
export class HqEndpoint {
  readonly endpoint: QuicEndpoint;
  readonly socket: UdpSocket;
  readonly port: number;
  readonly seen: HqSeen = { ends: [], failures: [], requests: [], connections: 0, early: 0 };
  readonly connections: QuicConnection[] = [];
  size = 0;
  // Its memory is freed with it.
  readonly context: SecureContext;

  constructor(settings: Partial<QuicSettings> = {}, engine: 'uring' | 'libuv' = typeof ring === 'string' ? 'libuv' : 'uring', port = 0) {
    const { rsa } = certs();
    this.context = createSecureContext({ cert: readFileSync(rsa.cert), key: readFileSync(rsa.key), sessionIdContext: 'quic' });
    const context = contextAddress(this.context.context);
    prepareQuicContext(context, true);
    const handle = DatagramHandle.bind({ address: '127.0.0.1', port }, false, false);
    if (typeof handle === 'number') {
      throw new Error(`bind: ${handle}`);
    }
    this.port = handle.local().port!;
    setUdpOptions(quicCalls().native, handle.fd, 2, { local: false, joined: engine === 'uring' }, true);
    this.socket =
      engine === 'uring' && typeof ring !== 'string'
        ? new UringUdpSocket(ring, handle, () => this.endpoint)
        : new HandleUdpSocket(handle, () => this.endpoint);
    const server: QuicServer = {
      settings: { ...HQ_SETTINGS, ...settings },
      admit: () => client,
    };
    const client: QuicClient = {
      left: () => {},
      failed: (reason) => void this.seen.failures.push(reason),
      choose: (hello) => {
        const offered = ['hq-interop', 'h3'].find((name) => hello.includes(String.fromCharCode(name.length) + name, 0, 'latin1'));
        return {
          settings: {
            context,
            protocol: offered ?? '',
            verify: false,
            verifyDepth: 1,
            earlyData: true,
            serverName: undefined,
            staple: undefined,
            sessions: undefined,
          },
          accept: (connection) => new HqConnection(connection, this),
        };
      },
    };
    const secret = Buffer.alloc(32, 7);
    this.endpoint = new QuicEndpoint(this.socket, server, new AddressTokens(secret), new RoutedIds(secret, 0, 1, 0));
  }

  close(): void {
    this.endpoint.terminate();
  }
}

class HqConnection implements QuicConnectionHandler {
  readonly quic: QuicConnection;
  readonly owner: HqEndpoint;

  constructor(quic: QuicConnection, owner: HqEndpoint) {
    this.quic = quic;
    this.owner = owner;
    owner.seen.connections++;
    owner.connections.push(quic);
  }

  opened(stream: QuicStream): QuicStreamHandler {
    return new HqStream(stream, this);
  }

  established(): void {
    if (this.quic.protocol === 'h3') {
      // The control stream, with empty settings.
      this.quic.openUnidirectional(new HqStream(null, this))?.write(Buffer.from([0, 4, 0]), false);
    }
  }

  streamsAllowed(): void {}

  ended(why: QuicEnd): void {
    this.owner.seen.ends.push(why);
  }

  flush(): void {}
}

const BLOCK = Buffer.alloc(65536, 'hq');

class HqStream implements QuicStreamHandler {
  readonly #stream: QuicStream | null;
  readonly #connection: HqConnection;
  #text = '';
  #left = -1;
  #length = 0;

  constructor(stream: QuicStream | null, connection: HqConnection) {
    this.#stream = stream;
    this.#connection = connection;
  }

  received(bytes: Buffer, start: number, end: number, last: boolean): void {
    this.#length += end - start;
    if (this.#text.length < 1000) {
      this.#text += bytes.toString('latin1', start, end);
    }
    const stream = this.#stream!;
    stream.consumed(end - start);
    if (last && !stream.unidirectional) {
      const { seen } = this.#connection.owner;
      seen.requests.push(this.#text.slice(0, 100));
      seen.early += this.#connection.quic.tls.early ? 1 : 0;
      if (this.#connection.quic.protocol === 'h3') {
        // HEADERS with the status 200 of the static table, and DATA.
        const { size } = this.#connection.owner;
        const head = Buffer.from([1, 3, 0, 0, 0xd9, 0, 0, 0, 0, 0]);
        head.writeUInt32BE(0x80000000 + size, 6);
        stream.write(head, size === 0);
        this.#left = size === 0 ? -1 : size;
        this.#send();
        return;
      }
      const size = /^GET \/(\d+)/.exec(this.#text)?.[1];
      if (size === undefined) {
        stream.write(Buffer.from(`length ${this.#length}\n`), true);
      } else {
        this.#left = Number(size);
        this.#send();
      }
    }
  }

  #send(): void {
    const stream = this.#stream!;
    while (this.#left >= 0 && stream.room > 0) {
      const size = Math.min(this.#left, BLOCK.length);
      this.#left -= size;
      stream.write(BLOCK.subarray(0, size), this.#left === 0);
      if (this.#left === 0) {
        this.#left = -1;
      }
    }
  }

  drained(): void {
    this.#send();
  }

  finished(): void {}
  wasReset(): void {}
  refused(): void {
    this.#left = -1;
  }
  closed(): void {
    this.#left = -1;
  }
}
