import type { BackendTarget, Socket, SocketAddress, SocketOwner } from '../../shared/net/socket.js';
import type { NetworkStandIn } from '../../worker/net/engine/network.js';
import { UnboundSocket } from '../../worker/net/unbound-socket.js';
import type { BackendRequest, StubChannel, StubReader } from './stub-channel.js';
import { fastcgiStub } from './stub-fastcgi.js';
import { http1Stub } from './stub-http1.js';
import { http2Stub } from './stub-http2.js';
import { memcachedStub, scgiStub, uwsgiStub } from './stub-others.js';

/** What a backend answers. */
export interface StubAnswer {
  /** 200 unless given. */
  readonly status?: number | undefined;
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
  readonly body?: string | Buffer | undefined;
  /** The connection is refused, no answer ever comes, or the connection breaks before the answer. */
  readonly fails?: 'refused' | 'timeout' | 'reset' | undefined;
}

/** Says what a backend answers. `request` is undefined while a connection to `peer` is made: only `fails` counts then. */
export type StubBackend = (peer: string, request: BackendRequest | undefined) => StubAnswer;

function systemError(syscall: string, code: string, errno: number): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, errno: -errno, syscall });
}

/** Takes the place of all backends. */
export class StubNetwork implements NetworkStandIn {
  stub: StubBackend = () => ({});
  #requests: BackendRequest[] = [];

  /** The requests since the last call. */
  take(): BackendRequest[] {
    const requests = this.#requests;
    this.#requests = [];
    return requests;
  }

  /** In place of Node's fetch, which scripts of the configuration use. */
  readonly fetch = async (resource: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(resource, init);
    const { host, pathname, search } = new URL(request.url);
    const whole: BackendRequest = {
      protocol: 'http',
      peer: host,
      method: request.method,
      uri: pathname + search,
      headers: [...request.headers],
      body: Buffer.from(await request.arrayBuffer()),
    };
    if (this.stub(host, undefined).fails !== undefined) {
      throw new TypeError('fetch failed');
    }
    this.#requests.push(whole);
    const { fails, status = 200, headers = [], body = '' } = this.stub(host, whole);
    if (fails !== undefined) {
      throw new TypeError('fetch failed');
    }
    const bodiless = status === 204 || status === 205 || status === 304;
    return new Response(bodiless ? null : Buffer.from(body as string, 'latin1'), {
      status,
      headers: headers.map(([name, value]) => [name, value]),
    });
  };

  connect(target: BackendTarget, owner: SocketOwner): Socket {
    const { address, port } = target;
    const peer = port === 0 ? `unix:${address}` : address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
    return new StubConnection(
      peer,
      owner,
      (asked) => this.stub(peer, asked),
      (request) => void this.#requests.push(request),
    );
  }
}

class StubConnection extends UnboundSocket {
  readonly #owner: SocketOwner;
  readonly #channel: StubChannel;
  #reader: StubReader | undefined = undefined;
  #closed = false;

  /** Connections are kept from one run to the next, whose stub may be another. */
  constructor(
    peer: string,
    owner: SocketOwner,
    stub: (request: BackendRequest | undefined) => StubAnswer,
    note: (request: BackendRequest) => void,
  ) {
    super();
    this.#owner = owner;
    this.#channel = {
      answer: (request) => {
        const whole: BackendRequest = { ...request, peer };
        note(whole);
        const { fails, status = 200, headers = [], body = '' } = stub(whole);
        if (fails === undefined) {
          return { status, headers, body: Buffer.from(body as string, 'latin1') };
        }
        if (fails !== 'timeout') {
          this.#later(() => owner.socketFailed?.(systemError('read', 'ECONNRESET', 104)));
        }
        return undefined;
      },
      send: (data) => {
        const bytes = Buffer.from(data as string, 'latin1');
        this.#later(() => owner.socketReceived(bytes, bytes.length, true));
      },
      end: () => this.#later(() => owner.socketEnded(false)),
    };
    const { fails } = stub(undefined);
    if (fails === 'refused') {
      this.#later(() => owner.socketFailed?.(systemError('connect', 'ECONNREFUSED', 111)));
    } else if (fails !== 'timeout') {
      this.#later(() => owner.socketOpened?.());
    }
  }

  /** Nothing is told before the call that led to it has returned. */
  #later(then: () => void): void {
    setImmediate(() => {
      if (!this.#closed) {
        then();
      }
    });
  }

  write(data: string | Buffer): boolean {
    const bytes = Buffer.from(data as string, 'latin1');
    this.#reader ??= stubReader(bytes, this.#channel);
    this.#reader.written(bytes);
    return true;
  }

  remote(): SocketAddress {
    return {};
  }

  local(): SocketAddress {
    return { address: '127.0.0.1', port: 1024 };
  }

  awaitFlush(): void {
    this.#later(() => this.#owner.socketDrained());
  }

  start(): void {}

  end(): void {}

  close(): void {
    this.#closed = true;
  }
}

/** Tells the protocol by the first bytes of a connection. */
export function stubReader(bytes: Buffer, channel: StubChannel): StubReader {
  const start = bytes.toString('latin1', 0, 16);
  if (start.startsWith('PRI * HTTP/2')) {
    return http2Stub(channel);
  }
  if (bytes[0] === 1 && bytes[1] === 1) {
    return fastcgiStub(channel);
  }
  if (/^\d+:/.test(start)) {
    return scgiStub(channel);
  }
  if (/^gets? /.test(start)) {
    return memcachedStub(channel);
  }
  // A packet of uwsgi begins with two numbers and a length; a request of HTTP with a word.
  return /^[!#-'*+.^_`|~0-9A-Za-z-]+ /.test(start) || /^[!#-'*+.^_`|~0-9A-Za-z-]{16}/.test(start) ? http1Stub(channel) : uwsgiStub(channel);
}
