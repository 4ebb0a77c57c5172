import { createServer, type Server, type Socket } from 'node:net';
import { watchForPoison } from '../support/poison.js';
import { answerBytes, cgiBytes, memcachedBytes } from './answers.js';
import { Http2Backend } from './backend-http2.js';
import { type BackendRequest, fastcgiRecords, readRequest } from './backend-request.js';
import { type Answer, bytesOf } from './case.js';

/** With which HTTP/2 begins. */
const PREFACE = 'PRI * ';
/** Bytes that are sent one by one before the rest goes in one piece. */
const BYTEWISE = 200;

/**
 * The backend of a case. It speaks HTTP/1, HTTP/2, FastCGI, SCGI, uwsgi or memcached's protocol, as it is spoken to, and keeps what it is
 * asked.
 */
export class Backend {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #requests: BackendRequest[] = [];
  #answer: Answer;
  /** Beginnings of requests that are not whole, by connection. */
  readonly #unread = new Map<Socket, Buffer>();

  constructor(answer: Answer) {
    this.#answer = answer;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#serve(socket));
  }

  async listen(): Promise<number> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return (this.#server.address() as { port: number }).port;
  }

  /** Forgets what it was asked; from now on it answers so. */
  begin(answer: Answer): void {
    this.#requests = [];
    this.#answer = answer;
  }

  /** What it was asked since `begin`, in the order in which requests were whole. */
  get requests(): readonly BackendRequest[] {
    return this.#requests;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    watchForPoison(socket, 'what a backend received');
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#unread.delete(socket);
    });
    const read = (piece: Buffer): void => {
      let bytes = Buffer.concat([this.#unread.get(socket) ?? Buffer.alloc(0), piece]);
      if (bytes.subarray(0, PREFACE.length).toString('latin1') === PREFACE) {
        socket.off('data', read);
        new Http2Backend(socket, (request) => {
          this.#requests.push(request);
          return answerTo(request, this.#answer);
        });
        socket.unshift(bytes);
        return;
      }
      for (let request = readRequest(bytes); request !== undefined; request = readRequest(bytes)) {
        bytes = bytes.subarray(request.length);
        this.#requests.push(request);
        this.#reply(socket, request);
      }
      this.#unread.set(socket, bytes);
    };
    socket.on('data', read);
  }

  #reply(socket: Socket, request: BackendRequest): void {
    const { bytes, ends } = this.#bytes(answerTo(request, this.#answer), request);
    const { leave, bytewise } = this.#answer;
    if (leave !== undefined && own(request) === undefined) {
      socket.write(bytes.subarray(0, leave.after), () => (leave.how === 'reset' ? socket.resetAndDestroy() : socket.end()));
      return;
    }
    const last = (): void => void (ends ? socket.end() : 0);
    if (bytewise) {
      void writeBytewise(socket, bytes).then(last);
    } else if (bytes.length > 0) {
      socket.write(bytes, last);
    } else {
      last();
    }
  }

  #bytes(answer: Answer, { protocol, method, target }: BackendRequest): { bytes: Buffer; ends: boolean } {
    if (protocol === 'http') {
      return answerBytes(answer, method === 'HEAD');
    }
    if (protocol === 'memcached') {
      return memcachedBytes(answer, target);
    }
    const content = cgiBytes(answer);
    return { bytes: protocol === 'fastcgi' ? fastcgiRecords(content) : content, ends: true };
  }
}

async function writeBytewise(socket: Socket, bytes: Buffer): Promise<void> {
  for (let i = 0; i < Math.min(bytes.length, BYTEWISE) && !socket.destroyed; i++) {
    socket.write(bytes.subarray(i, i + 1));
    await new Promise((done) => setImmediate(done));
  }
  socket.write(bytes.subarray(BYTEWISE));
}

const PLAIN: Answer = { status: 200, fields: [['X-Who', 'somebody']], body: { text: 'beside\n' }, framing: 'length' };

/** What requests beside the main one are told, by their target. */
function own({ target }: BackendRequest): Answer | undefined {
  const status = /^\/auth-(\d+)/.exec(target)?.[1];
  if (status !== undefined) {
    return { ...PLAIN, status: Number(status) };
  }
  return /^\/(mirror|post-action|after|neighbour)/.test(target) ? PLAIN : undefined;
}

const answerTo = (request: BackendRequest, answer: Answer): Answer => own(request) ?? (answer.ranges ? rangeOf(request, answer) : answer);

/** The part of an answer that a request wants. */
function rangeOf({ text }: BackendRequest, answer: Answer): Answer {
  const [range, from, to] = /^(?:range: |HTTP_RANGE=)bytes=(\d+)-(\d*)\r?$/im.exec(text) ?? [];
  if (range === undefined || answer.status !== 200) {
    return answer;
  }
  const whole = bytesOf(answer.body);
  const [first, last] = [Number(from), Math.min(to === '' ? Number.POSITIVE_INFINITY : Number(to), whole.length - 1)];
  if (first > last) {
    return { ...answer, status: 416, fields: [['Content-Range', `bytes */${whole.length}`]], body: { text: '' } };
  }
  return {
    ...answer,
    status: 206,
    fields: [...answer.fields, ['Content-Range', `bytes ${first}-${last}/${whole.length}`]],
    body: { text: whole.toString('latin1', first, last + 1) },
  };
}
