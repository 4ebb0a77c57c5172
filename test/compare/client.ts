import { Buffer } from 'node:buffer';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { certs, pem } from '../support/certs.js';
import { EarlySocket, type TlsSession, tlsSession } from '../support/early-socket.js';
import { watchForPoison } from '../support/poison.js';
import { parseResponse } from '../support/response.js';
import type { Client, Field } from './case.js';
import { overHttp2 } from './client-http2.js';
import { forgetHttp3Sessions, overHttp3 } from './client-http3.js';
import type { ServerClock } from './clock.js';
import { depart } from './depart.js';
import { requestBytes } from './requests.js';

/** How a client reaches the server. */
export interface Transport {
  readonly port: number;
  /** 127.0.0.1 unless told. */
  readonly address?: string;
  readonly tls: boolean;
  readonly http2: boolean;
  readonly http3: boolean;
  /** Each of the first bytes is sent for itself. */
  readonly bytewise: boolean;
  /** It says by the PROXY protocol whose connection it is. */
  readonly proxied?: true | undefined;
  /** It sends its first bytes as early data. */
  readonly early?: true | undefined;
}

/** A response as the client saw it, whatever the protocol. */
export interface Received {
  /** 0 for bytes that are no response. */
  readonly status: number;
  readonly version: string;
  readonly interim: readonly { readonly status: number; readonly fields: readonly Field[] }[];
  readonly fields: readonly Field[];
  readonly body: Buffer;
  readonly trailers: readonly Field[];
  readonly complete: boolean;
}

/** What became of a connection. */
export interface Conversation {
  /** The client's port, by which logs name the connection. */
  readonly from: number;
  readonly responses: readonly Received[];
  /** `closed` by the server, though nobody asked; `late` when what was expected did not come in time. */
  readonly end: 'done' | 'closed' | 'late' | 'left';
  /** Whether the server took early data, where it was sent. */
  readonly early?: boolean;
  /** What the client cannot read. */
  readonly broken?: string;
}

/** Says when the server is done. */
export interface Watch {
  /** Waits until it has logged so many requests of the connection from a port. */
  readonly logged: (from: number, requests: number) => Promise<void>;
  /** Milliseconds for a response, while it has logged nothing. */
  readonly deadline: number;
  /** Milliseconds for what is still on its way then. */
  readonly grace: number;
  /** Waits by the server's clock: see {@link ServerClock.after}. */
  readonly after: ServerClock['after'];
  /** Waits, for a time, until a connection may end: what a server does behind a response ends with it. */
  readonly settled: (from: number, requests: number) => Promise<void>;
}

/** Milliseconds without a watch. */
const DEADLINE = 30_000;
const BYTEWISE = 400;

/** Does what a case's client does. `host`: the name of the case in this run. Without `watch` it waits long for what does not come. */
export async function converse(transport: Transport, client: Client, host: string, watch?: Watch): Promise<Conversation> {
  const overOf =
    (from: number): Over =>
    (requests, late) =>
      deadline(watch, from, requests, late);
  if (transport.http3) {
    return overHttp3(transport.port, client, host, overOf, transport.early === true, watch);
  }
  if (client.through === 'udp') {
    return overUdp(transport, client, host, overOf);
  }
  const { tls, http2, bytewise, early } = transport;
  const plain = early ? await openEarly(transport) : await open(transport);
  const from = plain.localPort ?? 0;
  const over = overOf(from);
  const socket = tls && !early ? await shakeHands(plain, http2, client, host, over) : plain;
  if (socket === undefined) {
    plain.destroy();
    return { from, responses: [], end: 'closed', broken: 'no handshake' };
  }
  try {
    const outcome = await (http2 ? overHttp2(socket, client, host, tls, over) : overHttp1(socket, client, host, bytewise, over));
    if (outcome.end === 'done') {
      await watch?.settled(from, outcome.responses.length);
    }
    return { from, ...outcome, ...(plain instanceof EarlySocket ? { early: plain.accepted } : {}) };
  } finally {
    socket.destroy();
  }
}

/** Calls `late` when so many responses do not come: long after now, or soon after the server is done. Gives what ends the wait. */
export type Over = (requests: number, late: () => void) => () => void;

function deadline(watch: Watch | undefined, from: number, requests: number, late: () => void): () => void {
  let stop = watch === undefined ? afterTime(DEADLINE, late) : watch.after(watch.deadline, late);
  let waits = true;
  void watch?.logged(from, requests).then(() => {
    if (waits) {
      stop();
      stop = watch.after(watch.grace, late);
    }
  });
  return () => {
    waits = false;
    stop();
  };
}

const afterTime: ServerClock['after'] = (milliseconds, ring) => {
  const timer = setTimeout(ring, milliseconds);
  return () => clearTimeout(timer);
};

/** Of all clients with a certificate, or without: one of its own would take each of them as long as its handshake. */
const contexts = new Map<Client['certificate'], SecureContext>();

function contextOf(certificate: Client['certificate']): SecureContext {
  let context = contexts.get(certificate);
  if (context === undefined) {
    const pair = certificate === undefined ? undefined : certs()[certificate];
    context = createSecureContext(pair === undefined ? {} : { cert: pem(pair.cert), key: pem(pair.key) });
    contexts.set(certificate, context);
  }
  return context;
}

async function open({ port, address = '127.0.0.1', proxied }: Transport): Promise<Socket> {
  const socket = connect({ port, host: address, allowHalfOpen: true, noDelay: true });
  await new Promise<void>((done, fail) => socket.once('error', fail).once('connect', done));
  if (proxied) {
    socket.write(`PROXY TCP4 10.0.0.9 127.0.0.1 ${socket.localPort} 80\r\n`);
  }
  return socket;
}

/** Sessions of servers, by port and protocol: each of them lets many connections send early data. */
const sessions = new Map<string, { readonly at: number; readonly session: Promise<TlsSession> }>();
/** Milliseconds for which one is used: servers forget it after five minutes, and a batch may take longer. */
const SESSION_AGE = 120_000;

/** Forgets sessions of TLS: a new configuration of a server does not know them. */
export function forgetSessions(): void {
  sessions.clear();
  forgetHttp3Sessions();
}

async function openEarly({ port, http2 }: Transport): Promise<Socket> {
  const protocol = http2 ? 'h2' : 'http/1.1';
  const key = `${port} ${protocol}`;
  const known = sessions.get(key);
  const now = performance.now();
  const given = known !== undefined && now - known.at < SESSION_AGE ? known : { at: now, session: tlsSession(port, protocol) };
  sessions.set(key, given);
  const socket = new EarlySocket(port, protocol, await given.session);
  await once(socket, 'connect');
  socket.on('error', () => {});
  // Clients use no more of a socket than this one has.
  return socket as unknown as Socket;
}

/** Begins TLS; gives nothing where that does not come to its end. */
function shakeHands(socket: Socket, http2: boolean, { certificate, named }: Client, host: string, over: Over): Promise<Socket | undefined> {
  const ALPNProtocols = [http2 ? 'h2' : 'http/1.1'];
  const secureContext = contextOf(certificate);
  const servername = named ? host : 'localhost';
  const secure = connectTls({ socket, secureContext, rejectUnauthorized: false, servername, ALPNProtocols });
  return new Promise((done) => {
    const settled = over(1, () => done(undefined));
    const end = (): void => {
      settled();
      done(undefined);
    };
    socket.once('close', end);
    secure.once('error', end).once('secureConnect', () => {
      settled();
      secure.on('error', () => {});
      socket.off('close', end);
      done(secure);
    });
  });
}

/** Sends each request in a datagram, and takes one that comes back for the response. */
async function overUdp(
  { port, address = '127.0.0.1' }: Transport,
  { requests }: Client,
  host: string,
  overOf: (from: number) => Over,
): Promise<Conversation> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const from = socket.address().port;
  const responses: Received[] = [];
  try {
    for (const [i, request] of requests.entries()) {
      socket.send(requestBytes(request, host), port, address);
      const bytes = await new Promise<Buffer | undefined>((done) => {
        const settled = overOf(from)(i + 1, () => done(undefined));
        socket.once('message', (datagram) => {
          settled();
          done(datagram);
        });
      });
      if (bytes === undefined) {
        return { from, responses, end: 'late' };
      }
      responses.push({ ...RAW, body: bytes });
    }
    return { from, responses, end: 'done' };
  } finally {
    socket.close();
  }
}

/** What is known of a response that nobody reads. */
const RAW = { status: 0, version: '', interim: [], fields: [], trailers: [], complete: true } as const;

export type Outcome = Omit<Conversation, 'from' | 'early'>;

async function overHttp1(socket: Socket, client: Client, host: string, bytewise: boolean, over: Over): Promise<Outcome> {
  watchForPoison(socket, 'what a client received');
  const reader = new Http1Reader(socket, client, over);
  const { requests, pipelined, leave, slow, waits } = client;
  if (slow) {
    socket.pause();
    setTimeout(() => socket.resume(), 30).unref();
  }
  const pieces = requests.map((request) => requestBytes(request, host));
  const whole = pipelined ? [Buffer.concat(pieces)] : pieces;
  for (const [i, piece] of whole.entries()) {
    if (leave?.of === 'sent') {
      socket.write(piece.subarray(0, leave.after), () => depart(socket, leave.how));
      await (leave.how === 'half' ? reader.until(requests.length, true) : new Promise((left) => socket.once('close', left)));
      return reader.outcome('left');
    }
    if (bytewise) {
      await sendBytewise(socket, piece);
    } else if (waits && !pipelined && requests[i]!.body !== undefined) {
      const head = piece.indexOf('\r\n\r\n') + 4;
      socket.write(piece.subarray(0, head));
      if (await reader.goAhead(i + 1)) {
        socket.write(piece.subarray(head));
      }
    } else {
      socket.write(piece);
    }
    // A body that was announced and does not come: the client ends its side, once the server has the rest.
    if ((pipelined ? requests : [requests[i]!]).some(({ body }) => body?.framing === 'short')) {
      socket.end();
    }
    const end = await reader.until(pipelined ? requests.length : i + 1);
    if (end !== 'done' || i === whole.length - 1) {
      return reader.outcome(end);
    }
  }
  return reader.outcome('done');
}

async function sendBytewise(socket: Socket, bytes: Buffer): Promise<void> {
  for (let i = 0; i < Math.min(bytes.length, BYTEWISE); i++) {
    socket.write(bytes.subarray(i, i + 1));
    await new Promise((done) => setImmediate(done));
  }
  if (bytes.length > BYTEWISE) {
    socket.write(bytes.subarray(BYTEWISE));
  }
}

/** Reads the responses of a connection as they come. */
class Http1Reader {
  readonly #responses: Received[] = [];
  readonly #client: Client;
  readonly #over: Over;
  #bytes = Buffer.alloc(0);
  #ended = false;
  #interim: Received['interim'][number][] = [];
  #broken: string | undefined;
  #wake = (): void => {};

  constructor(socket: Socket, client: Client, over: Over) {
    this.#client = client;
    this.#over = over;
    socket.on('data', (piece: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, piece]);
      const { leave } = client;
      if (leave?.of === 'received' && this.#bytes.length >= leave.after) {
        depart(socket, leave.how === 'half' ? 'close' : leave.how);
        this.#end();
      }
      this.#read();
    });
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => this.#end());
    }
  }

  /**
   * Waits for so many responses, and for the end of the connection where the last of them announces it. `toTheEnd`: or for the end in any
   * case.
   */
  until(count: number, toTheEnd = false): Promise<Conversation['end']> {
    return new Promise((done) => {
      const settled = this.#over(count, () => done('late'));
      const look = (): void => {
        const enough = this.#responses.length >= count;
        const closes = toTheEnd || this.#responses.at(-1)?.fields.some(([name, value]) => /^connection$/i.test(name) && value === 'close');
        if (this.#ended || (enough && !closes)) {
          settled();
          done(this.#ended ? 'closed' : 'done');
        }
      };
      this.#wake = look;
      look();
    });
  }

  /** Waits for 100 Continue. False: there is a response already, or the end. */
  goAhead(count: number): Promise<boolean> {
    return new Promise((done) => {
      const settled = this.#over(count, () => done(true));
      const look = (): void => {
        const over = this.#ended || this.#responses.length >= count;
        if (over || this.#interim.some(({ status }) => status === 100)) {
          settled();
          done(!over);
        }
      };
      this.#wake = look;
      look();
    });
  }

  outcome(end: Conversation['end']): Outcome {
    return { responses: this.#responses, end, ...(this.#broken === undefined ? {} : { broken: this.#broken }) };
  }

  #end(): void {
    if (!this.#ended) {
      this.#ended = true;
      this.#read();
      this.#wake();
    }
  }

  #read(): void {
    try {
      while (this.#broken === undefined) {
        const method = this.#client.requests[this.#responses.length]?.method ?? 'GET';
        const parsed = parseResponse(this.#bytes, method, this.#ended);
        if (parsed === undefined) {
          break;
        }
        this.#bytes = this.#bytes.subarray(parsed.length);
        if (parsed.status >= 100 && parsed.status < 200 && parsed.status !== 101) {
          this.#interim.push({ status: parsed.status, fields: parsed.headers });
          continue;
        }
        const { status, version, headers: fields, body, trailers, complete } = parsed;
        this.#responses.push({ status, version, interim: this.#interim, fields, body, trailers, complete });
        this.#interim = [];
      }
    } catch (error) {
      this.#broken = (error as Error).message;
      this.#ended = true;
    }
    this.#wake();
  }
}
