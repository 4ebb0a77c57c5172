import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { watchForPoison } from './poison.js';
import { parseResponse, type Response, withInterim } from './response.js';
import { waitFor } from './wait.js';

export type { Response } from './response.js';

/** Where to connect: a port of 127.0.0.1, the path of a socket, or a server of `startServer` (its %%PORT_0%%). */
export type Target = number | string | { port(n: number): number };

export interface ConnectOptions {
  /** Speaks TLS with these settings; certificates are not checked unless told. */
  readonly tls?: ConnectionOptions;
  /** Address to connect from, e.g. 127.0.0.2. */
  readonly from?: string;
  /** Address to connect to; 127.0.0.1 unless told. */
  readonly host?: string;
  /** Milliseconds that each step may take; 60000 unless told. */
  readonly timeout?: number;
}

/** A text stands for its bytes, one for a character. */
export type Bytes = string | Uint8Array;

const toBuffer = (bytes: Bytes): Buffer => (typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes));

/** A connection of a client that sends exactly what it is told to and sees every byte of the answer. */
export class RawClient {
  readonly socket: Socket;
  readonly #timeout: number;
  #received: Buffer[] = [];
  #methods: string[] = [];
  #ended = false;
  #error: Error | undefined;

  private constructor(socket: Socket, timeout: number) {
    this.socket = socket;
    this.#timeout = timeout;
    socket.setNoDelay(true);
    watchForPoison(socket, 'what a client received');
    socket.on('data', (piece) => this.#received.push(piece));
    socket.once('end', () => (this.#ended = true));
    socket.once('close', () => (this.#ended = true));
    socket.once('error', (error) => {
      this.#error = error;
      this.#ended = true;
    });
  }

  /** Connects; rejects when the connection (or the TLS handshake) is refused. */
  static connect(target: Target, options: ConnectOptions = {}): Promise<RawClient> {
    const port = typeof target === 'object' ? target.port(0) : target;
    const where = {
      ...(typeof port === 'string' ? { path: port } : { port, host: options.host ?? '127.0.0.1' }),
      ...(options.from === undefined ? {} : { localAddress: options.from }),
      allowHalfOpen: true,
    };
    return new Promise((done, fail) => {
      const socket = options.tls ? connectTls({ rejectUnauthorized: false, ...where, ...options.tls }) : connectTcp(where);
      const client = new RawClient(socket, options.timeout ?? 60_000);
      socket.once('error', fail);
      socket.once(options.tls ? 'secureConnect' : 'connect', () => done(client));
    });
  }

  get tls(): TLSSocket {
    return this.socket as TLSSocket;
  }

  /** Everything that was received and not yet taken by `response` or `take`. */
  get received(): string {
    return this.#buffer().toString('latin1');
  }

  /** True once the server closed its side, or the connection broke. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The error that broke the connection, e.g. ECONNRESET. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** Sends bytes as they are. `methods` says which requests they hold when that cannot be seen, as after a body. */
  send(bytes: Bytes, ...methods: string[]): this {
    const buffer = toBuffer(bytes);
    this.#methods.push(...(methods.length > 0 ? methods : methodsIn(buffer)));
    this.socket.write(buffer);
    return this;
  }

  /** Sends the pieces one after another, each in a segment of its own, with a pause (in milliseconds) between. */
  async sendSlowly(pieces: readonly Bytes[], pause = 10): Promise<this> {
    this.#methods.push(...methodsIn(Buffer.concat(pieces.map(toBuffer))));
    for (const [i, piece] of pieces.entries()) {
      if (i > 0) {
        await sleep(pause);
      }
      this.socket.write(toBuffer(piece));
    }
    return this;
  }

  /** Closes our side for writing; the server sees the end of the stream. */
  end(): this {
    this.socket.end();
    return this;
  }

  /** Stops reading, so that the server's send buffer fills; `resume` goes on. */
  pause(): this {
    this.socket.pause();
    return this;
  }

  resume(): this {
    this.socket.resume();
    return this;
  }

  /** Ends the connection at once; with a reset when asked to. */
  destroy(reset = false): void {
    if (reset) {
      this.socket.resetAndDestroy();
    } else {
      this.socket.destroy();
    }
  }

  /**
   * Waits for the next answer, interim ones before it included, and takes it from what was received. Rejects when the connection
   * ends before it starts.
   */
  async response(): Promise<Response> {
    const method = this.#methods.shift() ?? 'GET';
    const interim: Response[] = [];
    for (;;) {
      const response = await this.#next(method);
      if (response.status >= 200 || response.status === 101 || response.status === 0) {
        return withInterim(response, interim);
      }
      interim.push(response);
    }
  }

  /** Waits for an interim answer (1xx) and takes it. */
  interim(): Promise<Response> {
    return this.#next('GET');
  }

  async #next(method: string): Promise<Response> {
    const response = await waitFor(() => {
      const parsed = parseResponse(this.#buffer(), method, this.#ended);
      if (parsed === undefined && this.#ended) {
        throw new Error(`the connection ended without a response (${this.#error?.message ?? 'closed'})`);
      }
      return parsed;
    }, this.#limits('a response'));
    this.#received = [this.#buffer().subarray(response.length)];
    return response;
  }

  /** Waits until at least `count` bytes were received, and takes that many. */
  async take(count: number): Promise<string> {
    const bytes = await waitFor(
      () => {
        const buffer = this.#buffer();
        if (buffer.length >= count) {
          return buffer;
        }
        if (this.#ended) {
          throw new Error(`the connection ended after ${buffer.length} of ${count} bytes`);
        }
        return undefined;
      },
      this.#limits(`${count} bytes`),
    );
    this.#received = [bytes.subarray(count)];
    return bytes.toString('latin1', 0, count);
  }

  /** Waits until the text stands in what was received; takes nothing. */
  async until(text: string): Promise<string> {
    await waitFor(() => this.received.includes(text), this.#limits(JSON.stringify(text)));
    return this.received;
  }

  /** Waits until the server closes and gives all that came; rejects when the connection was reset before the end of the stream. */
  async rest(): Promise<string> {
    await waitFor(() => this.#ended, this.#limits('the end of the connection'));
    if (this.#error) {
      throw this.#error;
    }
    this.socket.destroy();
    const text = this.received;
    this.#received = [];
    return text;
  }

  /** Waits until the server closes the connection, in whatever way. */
  async closed(): Promise<void> {
    await waitFor(() => this.#ended, this.#limits('the end of the connection'));
    this.socket.destroy();
  }

  #buffer(): Buffer {
    if (this.#received.length !== 1) {
      this.#received = [Buffer.concat(this.#received)];
    }
    return this.#received[0]!;
  }

  #limits(what: string): { timeout: number; what: () => string } {
    return { timeout: this.#timeout, what: () => `${what}; received ${JSON.stringify(this.received.slice(0, 2000))}` };
  }
}

// Which answers have no body depends on the request's method. Requests after a body are not seen here: see `send`.
function methodsIn(bytes: Buffer): string[] {
  return [...bytes.toString('latin1').matchAll(/(?:^|\r?\n\r?\n)([A-Z_-]+) \S+(?: HTTP\/\d\.\d)?\r?\n/g)].map(([, method]) => method!);
}

const CLOSE = /^Connection: close\r$/m;

/**
 * Sends a request on a new connection, waits for the answer and lets go of the connection. Where the request asks the server to close, it
 * waits for that too: the lines about the request are in the logs then.
 */
export async function http(target: Target, request: Bytes, options?: ConnectOptions): Promise<Response> {
  const client = await RawClient.connect(target, options);
  try {
    const response = await client.send(request).response();
    if (CLOSE.test(toBuffer(request).toString('latin1', 0, 8192))) {
      await client.closed();
    }
    return response;
  } finally {
    client.destroy();
  }
}

/** `GET path` over HTTP/1.1 on a connection of its own, which the server closes after the answer. */
export function httpGet(
  target: Target,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  options?: ConnectOptions,
): Promise<Response> {
  return http(target, requestText('GET', path, { Connection: 'close', ...headers }), options);
}

/** The text of an HTTP/1.1 request with `Host: localhost` (unless told) and a Content-Length when there is a body. */
export function requestText(method: string, path: string, headers: Readonly<Record<string, string>> = {}, body = ''): string {
  const all = { Host: 'localhost', ...headers, ...(body === '' ? {} : { 'Content-Length': String(body.length) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Sends several requests at once on one connection and reads as many answers, in order. */
export async function pipeline(target: Target, requests: readonly string[], options?: ConnectOptions): Promise<Response[]> {
  const client = await RawClient.connect(target, options);
  try {
    client.send(requests.join(''), ...requests.map((request) => request.slice(0, request.indexOf(' '))));
    const responses: Response[] = [];
    for (const _ of requests) {
      responses.push(await client.response());
    }
    return responses;
  } finally {
    client.destroy();
  }
}

/** Sends bytes on a new connection and gives everything that came until the server closed it. */
export async function exchange(target: Target, request: Bytes, options?: ConnectOptions): Promise<string> {
  const client = await RawClient.connect(target, options);
  try {
    return await client.send(request).rest();
  } finally {
    client.destroy();
  }
}
