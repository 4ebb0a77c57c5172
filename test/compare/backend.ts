import { createSocket, type Socket as Datagrams } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { certs, pem } from '../support/certs.js';
import { watchForPoison } from '../support/poison.js';
import { answerBytes, cgiBytes, memcachedBytes } from './answers.js';
import { Http2Backend } from './backend-http2.js';
import { type BackendRequest, fastcgiRecords, readRequest } from './backend-request.js';
import { type Answer, bytesOf } from './case.js';
import { departFrom } from './depart.js';

/** With which HTTP/2 begins. */
const PREFACE = 'PRI * ';
/** Bytes of the longest datagram that goes out in one piece in any case. */
const LONGEST_DATAGRAM = 60_000;
/** The type of a record of TLS with which a handshake begins. */
const HANDSHAKE = 0x16;
/** With which the PROXY protocol begins. */
const PROXY = 'PROXY ';
/** Bytes that are sent one by one before the rest goes in one piece. */
const BYTEWISE = 200;

/** Ports are tried until one is free for datagrams, too. */
const TRIES = 20;

/** Of all backends: one of its own would take each of them as long as all else. */
let context: SecureContext | undefined;

function secureContext(): SecureContext {
  const { ecdsa, ca } = certs();
  context ??= createSecureContext({ cert: pem(ecdsa.cert), key: pem(ecdsa.key), ca: pem(ca.cert), sessionIdContext: 'backend' });
  return context;
}

/**
 * The backend of a case. It speaks HTTP/1, HTTP/2, FastCGI, SCGI, uwsgi or memcached's protocol, over TLS and behind the PROXY protocol or
 * not, as it is spoken to, and keeps what it is asked.
 */
export class Backend {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #requests: BackendRequest[] = [];
  #answer: Answer;
  #datagrams: Datagrams | undefined;
  /** Beginnings of requests that are not whole, by connection. */
  readonly #unread = new Map<Socket, Buffer>();
  /** What is settled once the last answer on a connection is written that goes out byte by byte: later answers wait for that. */
  readonly #busy = new WeakMap<Socket, Promise<void>>();

  constructor(answer: Answer) {
    this.#answer = answer;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#serve(socket));
  }

  /** Listens, for datagrams too if `udp` says so; gives the port. */
  async listen(udp = false): Promise<number> {
    for (let tries = TRIES; ; tries--) {
      await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
      const { port } = this.#server.address() as { port: number };
      if (!udp || tries === 0 || (await this.#listenForDatagrams(port))) {
        return port;
      }
      await new Promise((done) => this.#server.close(done));
    }
  }

  #listenForDatagrams(port: number): Promise<boolean> {
    const socket = createSocket('udp4');
    return new Promise((done) => {
      socket.once('error', () => done(false)).once('listening', () => done(true));
      socket.bind(port, '127.0.0.1');
      socket.on('message', (bytes, from) => {
        const request = readRequest(bytes);
        if (request !== undefined) {
          this.#requests.push(request);
          socket.send(this.#bytes(this.#answerTo(request), request).bytes.subarray(0, LONGEST_DATAGRAM), from.port, from.address);
        }
      });
      this.#datagrams = socket;
    });
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
    this.#datagrams?.close();
    // A case that two servers have refused is closed twice.
    this.#datagrams = undefined;
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  /** Serves a connection. `around`: what is said of it with each request. */
  #serve(socket: Socket, around = ''): void {
    this.#sockets.add(socket);
    watchForPoison(socket, 'what a backend received');
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#unread.delete(socket);
    });
    let said = around;
    const read = (piece: Buffer): void => {
      let bytes = Buffer.concat([this.#unread.get(socket) ?? Buffer.alloc(0), piece]);
      if (bytes.subarray(0, PROXY.length).toString('latin1') === PROXY && bytes.includes('\r\n')) {
        const end = bytes.indexOf('\r\n') + 2;
        said += bytes.toString('latin1', 0, end);
        bytes = bytes.subarray(end);
      }
      if (bytes[0] === HANDSHAKE && !(socket instanceof TLSSocket)) {
        socket.off('data', read);
        this.#unread.delete(socket);
        this.#shakeHands(socket, bytes, said);
        return;
      }
      if (bytes.subarray(0, PREFACE.length).toString('latin1') === PREFACE) {
        socket.off('data', read);
        new Http2Backend(socket, (request) => {
          this.#requests.push({ ...request, text: said + request.text });
          return this.#answerTo(request);
        });
        socket.unshift(bytes);
        return;
      }
      for (let request = readRequest(bytes); request !== undefined; request = readRequest(bytes)) {
        bytes = bytes.subarray(request.length);
        this.#requests.push(said === '' ? request : { ...request, text: said + request.text });
        this.#reply(socket, request);
      }
      this.#unread.set(socket, bytes);
    };
    socket.on('data', read);
  }

  /** Answers the first bytes of TLS. */
  #shakeHands(socket: Socket, hello: Buffer, around: string): void {
    const { handshake } = this.#answer;
    if (handshake !== undefined) {
      this.#requests.push({ protocol: 'http', method: '', target: '', text: `${around}a handshake\n`, length: 0 });
      if (handshake === 'resets') {
        socket.resetAndDestroy();
      } else {
        socket.end(handshake === 'plain' ? 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n' : '');
      }
      return;
    }
    // A socket that flows would lose it.
    socket.pause();
    socket.unshift(hello);
    const secure = new TLSSocket(socket, {
      isServer: true,
      secureContext: secureContext(),
      ALPNProtocols: ['h2', 'http/1.1'],
      requestCert: true,
      rejectUnauthorized: false,
    });
    secure.on('error', () => socket.destroy());
    secure.once('secure', () => {
      const name = secure.getPeerCertificate()?.subject?.CN;
      const words = [
        `for ${(secure as { servername?: string }).servername || 'nobody'}`,
        secure.alpnProtocol || 'no protocol',
        secure.getProtocol(),
      ];
      const from = name === undefined ? '' : `, from ${name}`;
      const again = secure.isSessionReused() ? RESUMED : '';
      this.#serve(secure, `${around}TLS ${words.join(', ')}${from}${again}\n`);
    });
  }

  #reply(socket: Socket, request: BackendRequest): void {
    const before = this.#busy.get(socket);
    const answer = this.#answerTo(request);
    const over = before === undefined ? this.#write(socket, request, answer) : before.then(() => this.#write(socket, request, answer));
    if (over !== undefined) {
      this.#busy.set(socket, over);
    }
  }

  /** Writes an answer; one that goes out byte by byte is over when the promise is settled. */
  #write(socket: Socket, request: BackendRequest, answer: Answer): Promise<void> | undefined {
    const { bytes, ends } = this.#bytes(answer, request);
    const { leave, bytewise } = this.#answer;
    if (leave !== undefined && own(request) === undefined) {
      socket.write(bytes.subarray(0, leave.after), () => departFrom(socket, leave.how));
      return undefined;
    }
    const last = (): void => void (ends ? socket.end() : 0);
    if (bytewise) {
      return writeBytewise(socket, bytes).then(last);
    }
    if (bytes.length > 0) {
      socket.write(bytes, last);
    } else {
      last();
    }
    return undefined;
  }

  /** What a request is told that is among those that were asked. */
  #answerTo(request: BackendRequest): Answer {
    const { later } = this.#answer;
    const again = later !== undefined && this.#requests.filter((one) => own(one) === undefined).length > 1;
    return own(request) ?? rangeOf(request, again ? { ...this.#answer, ...later } : this.#answer);
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

/** What is said of a session of TLS that was there before. */
export const RESUMED = ', resumed';

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

/** The part of an answer that a request wants, if it is one of those that have parts. */
function rangeOf({ text }: BackendRequest, answer: Answer): Answer {
  const [range, from, to] = /^(?:range: |HTTP_RANGE=)bytes=(\d+)-(\d*)\r?$/im.exec(text) ?? [];
  if (!answer.ranges || range === undefined || answer.status !== 200) {
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
