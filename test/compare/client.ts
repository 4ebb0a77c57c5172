import { Buffer } from 'node:buffer';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { block, END_HEADERS, END_STREAM, type FieldText, frame, Http2Client, number32, settings, T } from '../support/http2-client.js';
import { watchForPoison } from '../support/poison.js';
import { parseResponse } from '../support/response.js';
import type { Client, Field, Request } from './case.js';
import { overHttp3 } from './client-http3.js';
import type { ServerClock } from './clock.js';
import { requestBytes } from './requests.js';

/** How a client reaches the server. */
export interface Transport {
  readonly port: number;
  readonly tls: boolean;
  readonly http2: boolean;
  readonly http3: boolean;
  /** Each of the first bytes is sent for itself. */
  readonly bytewise: boolean;
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
    return overHttp3(transport.port, client, host, overOf, watch);
  }
  const socket = await open(transport);
  const from = socket.localPort ?? 0;
  const over = overOf(from);
  const { tls, http2, bytewise } = transport;
  try {
    const outcome = await (http2 ? overHttp2(socket, client, host, tls, over) : overHttp1(socket, client, host, bytewise, over));
    if (outcome.end === 'done') {
      await watch?.settled(from, outcome.responses.length);
    }
    return { from, ...outcome };
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

/** Of all clients: one of its own would take each of them as long as its handshake. */
let context: SecureContext | undefined;

function open({ port, tls, http2 }: Transport): Promise<Socket> {
  return new Promise((done, fail) => {
    const where = { port, host: '127.0.0.1', allowHalfOpen: true };
    const protocol = http2 ? 'h2' : 'http/1.1';
    context ??= createSecureContext();
    const socket: Socket = tls
      ? connectTls({ ...where, secureContext: context, rejectUnauthorized: false, servername: 'localhost', ALPNProtocols: [protocol] })
      : connect(where);
    socket.setNoDelay(true);
    socket.once('error', fail);
    socket.once(tls ? 'secureConnect' : 'connect', () => done(socket));
  });
}

type Outcome = Omit<Conversation, 'from'>;

async function overHttp1(socket: Socket, client: Client, host: string, bytewise: boolean, over: Over): Promise<Outcome> {
  watchForPoison(socket, 'what a client received');
  const reader = new Http1Reader(socket, client, over);
  const { requests, pipelined, leave, slow } = client;
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

function depart(socket: Socket, how: 'half' | 'close' | 'reset'): void {
  if (how === 'half') {
    socket.end();
  } else if (how === 'reset') {
    socket.resetAndDestroy();
  } else {
    socket.destroy();
  }
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

const WINDOW = 0x7fff0000;

async function overHttp2(socket: Socket, { requests, leave }: Client, host: string, tls: boolean, over: Over): Promise<Outcome> {
  const client = new Http2Client(socket);
  client.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', frame(T.SETTINGS, 0, 0, settings([4, WINDOW])), frame(T.WINDOW, 0, 0, number32(WINDOW)));
  if (leave?.of === 'received') {
    let count = 0;
    socket.on('data', (piece: Buffer) => {
      count += piece.length;
      if (count >= leave.after) {
        depart(socket, leave.how === 'half' ? 'close' : leave.how);
        client.ended = true;
      }
    });
  }
  const responses: Received[] = [];
  for (const [i, request] of requests.entries()) {
    const id = 2 * i + 1;
    const bytes = http2RequestBytes(request, id, host, tls);
    if (leave?.of === 'sent') {
      socket.write(bytes.subarray(0, leave.after), () => depart(socket, leave.how === 'half' ? 'close' : leave.how));
      await new Promise((left) => socket.once('close', left));
      return { responses, end: 'left' };
    }
    client.send(bytes);
    const end = await streamEnd(socket, client, id, (late) => over(i + 1, late));
    const received = http2Response(client, id);
    if (received !== undefined) {
      responses.push(received);
    }
    if (end !== 'done') {
      return { responses, end };
    }
  }
  return { responses, end: 'done' };
}

/** The frames of a request. */
function http2RequestBytes({ method, target, fields, body }: Request, id: number, host: string, tls: boolean): Buffer {
  const own: FieldText[] = [
    [':method', method],
    [':scheme', tls ? 'https' : 'http'],
    [':path', target],
    [':authority', host],
    ...fields.map(([name, value]) => [name.toLowerCase(), value] as const),
  ];
  const content = Buffer.from(body === undefined ? '' : body.text.repeat(body.times ?? 1), 'latin1');
  const head = body?.framing === 'length' ? [...own, ['content-length', String(content.length)] as const] : own;
  const frames = [frame(T.HEADERS, END_HEADERS | (body === undefined ? END_STREAM : 0), id, block(head))];
  for (let at = 0; body !== undefined && (at < content.length || at === 0); at += 16_384) {
    frames.push(frame(T.DATA, at + 16_384 >= content.length ? END_STREAM : 0, id, content.subarray(at, at + 16_384)));
  }
  return Buffer.concat(frames);
}

function streamEnd(socket: Socket, client: Http2Client, id: number, over: (late: () => void) => () => void): Promise<Conversation['end']> {
  return new Promise((done) => {
    const settled = over(() => finish('late'));
    const finish = (end: Conversation['end']): void => {
      settled();
      socket.off('data', look).off('close', look).off('end', look);
      done(end);
    };
    const look = (): void => {
      const ended = client.frames.some(
        (f) => f.id === id && (f.type === T.RST || ((f.type === T.DATA || f.type === T.HEADERS) && (f.flags & END_STREAM) !== 0)),
      );
      if (ended || client.ended) {
        finish(ended ? 'done' : 'closed');
      }
    };
    socket.on('data', look).on('close', look).on('end', look);
    look();
  });
}

function http2Response(client: Http2Client, id: number): Received | undefined {
  const own = client.frames.filter((f) => f.id === id);
  const sections = own.flatMap(({ fields }) => (fields === undefined ? [] : [fields]));
  const statusOf = (fields: readonly FieldText[]): number => Number(fields.find(([name]) => name === ':status')?.[1] ?? 0);
  const plain = (fields: readonly FieldText[]): Field[] => fields.filter(([name]) => name !== ':status');
  const final = sections.findIndex((fields) => statusOf(fields) >= 200);
  if (final === -1) {
    return undefined;
  }
  return {
    status: statusOf(sections[final]!),
    version: 'HTTP/2',
    interim: sections.slice(0, final).map((fields) => ({ status: statusOf(fields), fields: plain(fields) })),
    fields: plain(sections[final]!),
    body: Buffer.concat(own.filter(({ type }) => type === T.DATA).map(({ payload }) => payload)),
    trailers: sections.slice(final + 1).flatMap(plain),
    complete: own.some((f) => f.type !== T.RST && (f.flags & END_STREAM) !== 0),
  };
}
