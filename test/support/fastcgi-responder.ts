import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { listenAsBackend } from './backend-server.js';
import { watchForPoison } from './poison.js';
import { waitFor } from './wait.js';

const BEGIN_REQUEST = 1;
const ABORT_REQUEST = 2;
const END_REQUEST = 3;
const PARAMS = 4;
const STDIN = 5;
const STDOUT = 6;
const STDERR = 7;

/** A request as the responder received it. */
export interface FastcgiRequest {
  /** In the order of the wire; texts have one character for a byte. */
  readonly params: readonly (readonly [string, string])[];
  param(name: string): string | undefined;
  readonly stdin: Buffer;
  /** 1 is the responder's role. */
  readonly role: number;
  /** Whether the server asks to keep the connection. */
  readonly keepAlive: boolean;
  readonly id: number;
  /** Which connection carried it, counted from 1. */
  readonly connection: number;
}

/** What the responder answers; a text stands for `{ stdout }`. */
export type FastcgiAnswer =
  | string
  | {
      /** Several pieces become several records. */
      readonly stdout?: string | Uint8Array | readonly (string | Uint8Array)[];
      readonly stderr?: string;
      readonly appStatus?: number;
      /** 0 is REQUEST_COMPLETE, 2 OVERLOADED. */
      readonly protocolStatus?: number;
      /** Bytes of padding in each record. */
      readonly padding?: number;
    };

/** The connection of the request, for answers that come in pieces, late, malformed or not at all. */
export interface FastcgiReply {
  readonly socket: Socket;
  stdout(bytes: string | Uint8Array): void;
  stderr(bytes: string): void;
  /** Sends END_REQUEST, and ends the connection unless it is kept. */
  finish(appStatus?: number, protocolStatus?: number): void;
  /** Sends a record of any type. */
  record(type: number, content: string | Uint8Array, padding?: number): void;
  sleep(milliseconds: number): Promise<void>;
}

/** Answers a request: by its return value, or by `reply` when it returns nothing. */
export type FastcgiHandler = (
  request: FastcgiRequest,
  reply: FastcgiReply,
) => FastcgiAnswer | undefined | Promise<FastcgiAnswer | undefined>;

/** A FastCGI application under the control of a test. */
export interface FastcgiResponder {
  /** 0 when it listens on a path. */
  readonly port: number;
  readonly requests: FastcgiRequest[];
  connections(): number;
  /** How many requests were aborted by a record or a closed connection before their answer. */
  aborted(): number;
  /** Waits until there were this many requests, and gives the last of them. */
  received(count: number): Promise<FastcgiRequest>;
  answer(handler: FastcgiHandler): void;
  stop(): Promise<void>;
}

const toBuffer = (bytes: string | Uint8Array): Buffer => (typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes));

/** Starts a FastCGI responder on a free port of 127.0.0.1, or on a path, and stops it with the test. */
export async function startFastcgi(t: Test, script: FastcgiHandler, options: { readonly path?: string } = {}): Promise<FastcgiResponder> {
  let handler = script;
  let accepted = 0;
  let aborted = 0;
  const sockets = new Set<Socket>();
  const requests: FastcgiRequest[] = [];
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    watchForPoison(socket, 'what a FastCGI responder received');
    serveConnection(socket, ++accepted, {
      begin: (request) => requests.push(request),
      handle: (request, reply) => handler(request, reply),
      abort: () => aborted++,
    });
  });
  const { port, stop } = await listenAsBackend(t, server, sockets, options);
  return {
    port,
    requests,
    connections: () => accepted,
    aborted: () => aborted,
    received: (count) => waitFor(() => requests[count - 1], { what: () => `request ${count} at the responder; it has ${requests.length}` }),
    answer(next) {
      handler = next;
    },
    stop,
  };
}

interface Events {
  begin(request: FastcgiRequest): void;
  handle: FastcgiHandler;
  abort(): void;
}

interface Unfinished {
  readonly role: number;
  readonly keepAlive: boolean;
  readonly params: Buffer[];
  readonly stdin: Buffer[];
}

function serveConnection(socket: Socket, connection: number, events: Events): void {
  let received: Buffer = Buffer.alloc(0);
  const unfinished = new Map<number, Unfinished>();
  const answering = new Set<number>();

  const complete = async (id: number, { role, keepAlive, params: raw, stdin }: Unfinished): Promise<void> => {
    unfinished.delete(id);
    const params = decodeParams(Buffer.concat(raw));
    const param = (name: string) => params.find(([key]) => key === name)?.[1];
    const request: FastcgiRequest = { params, param, stdin: Buffer.concat(stdin), role, keepAlive, id, connection };
    answering.add(id);
    events.begin(request);
    const reply = makeReply(socket, id, keepAlive, () => answering.delete(id));
    const answer = await events.handle(request, reply);
    if (answer !== undefined) {
      sendAnswer(answer, reply);
    }
  };

  const take = (type: number, id: number, content: Buffer): void => {
    if (type === BEGIN_REQUEST) {
      unfinished.set(id, { role: content.readUInt16BE(0), keepAlive: (content[2]! & 1) === 1, params: [], stdin: [] });
      return;
    }
    const request = unfinished.get(id);
    if (type === ABORT_REQUEST && (unfinished.delete(id) || answering.delete(id))) {
      events.abort();
    } else if (type === PARAMS) {
      request?.params.push(content);
    } else if (type === STDIN && content.length > 0) {
      request?.stdin.push(content);
    } else if (type === STDIN && request) {
      void complete(id, request);
    }
  };

  socket.on('data', (piece: Buffer) => {
    received = Buffer.concat([received, piece]);
    while (received.length >= 8) {
      const length = received.readUInt16BE(4);
      const end = 8 + length + received[6]!;
      if (received.length < end) {
        break;
      }
      const record = received;
      received = received.subarray(end);
      take(record[1]!, record.readUInt16BE(2), record.subarray(8, 8 + length));
    }
  });
  socket.once('end', () => {
    if (answering.size + unfinished.size > 0) {
      events.abort();
    }
    socket.end();
  });
}

function makeReply(socket: Socket, id: number, keepAlive: boolean, finished: () => void): FastcgiReply {
  const record = (type: number, content: string | Uint8Array, padding = 0): void => {
    const bytes = toBuffer(content);
    const header = Buffer.from([1, type, 0, 0, 0, 0, padding, 0]);
    header.writeUInt16BE(id, 2);
    header.writeUInt16BE(bytes.length, 4);
    socket.write(Buffer.concat([header, bytes, Buffer.alloc(padding)]));
  };
  const stream = (type: number, bytes: Buffer): void => {
    for (let at = 0; at < bytes.length; at += 65_528) {
      record(type, bytes.subarray(at, at + 65_528));
    }
  };
  return {
    socket,
    record,
    stdout: (bytes) => stream(STDOUT, toBuffer(bytes)),
    stderr: (bytes) => stream(STDERR, toBuffer(bytes)),
    finish(appStatus = 0, protocolStatus = 0) {
      finished();
      const content = Buffer.alloc(8);
      content.writeUInt32BE(appStatus, 0);
      content[4] = protocolStatus;
      record(END_REQUEST, content);
      if (!keepAlive) {
        socket.end();
      }
    },
    sleep: (milliseconds) => sleep(milliseconds),
  };
}

function sendAnswer(answer: FastcgiAnswer, reply: FastcgiReply): void {
  const { stdout = '', stderr, appStatus, protocolStatus, padding } = typeof answer === 'string' ? { stdout: answer } : answer;
  if (stderr !== undefined) {
    reply.stderr(stderr);
  }
  const pieces = typeof stdout === 'string' || stdout instanceof Uint8Array ? [stdout] : stdout;
  for (const piece of pieces) {
    if (padding === undefined) {
      reply.stdout(piece);
    } else {
      reply.record(STDOUT, piece, padding);
    }
  }
  reply.record(STDOUT, '');
  reply.finish(appStatus, protocolStatus);
}

function decodeParams(bytes: Buffer): [string, string][] {
  const params: [string, string][] = [];
  let at = 0;
  const length = (): number => {
    if (bytes[at]! < 0x80) {
      return bytes[at++]!;
    }
    at += 4;
    return bytes.readUInt32BE(at - 4) & 0x7fffffff;
  };
  while (at < bytes.length) {
    const nameLength = length();
    const valueLength = length();
    const middle = at + nameLength;
    params.push([bytes.toString('latin1', at, middle), bytes.toString('latin1', middle, middle + valueLength)]);
    at = middle + valueLength;
  }
  return params;
}
