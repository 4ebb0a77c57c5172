// Over 400 lines: what a request and a response of node:http do in place of their classes, each part a few lines.
import { Duplex } from 'node:stream';
import { ERROR } from '../../../shared/log/level.js';
import type { Source } from '../../http/request/body-stage.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { respond } from '../../http/request/respond.js';
import { AGAIN, type Result } from '../../task/codes.js';
import { addScriptHeader, sendInformation, setFinalStatus } from '../response-head.js';
import { isPromise } from '../script-promise.js';
import { HandlerInput } from './handler-input.js';
import { type HandlerPlan, HandlerRun } from './handler-run.js';
import { type NodeRequest, type NodeResponse, nodeHttp } from './node-http.js';
import { checkForHandler, handlerHeaders, handlerTarget } from './request-url.js';

/** A handler as `node:http` has it. */
export type NodeFunction = (req: NodeRequest, res: NodeResponse) => unknown;

/** Bytes of a response that wait for the client before `write` says that there are enough. */
const ENOUGH = 64 * 1024;

/** Answers each request with what a function writes. */
export const nodeHandler =
  (plan: HandlerPlan, handler: NodeFunction): PhaseHandler =>
  (r) =>
    new NodeRun(r, plan).start(handler);

/** What a module's export is called as; undefined if it is nothing that can be called so. */
export function nodeFunction(value: unknown): NodeFunction | undefined {
  if (typeof value === 'function') {
    return value as NodeFunction;
  }
  const app = value as { ready?: () => Promise<unknown>; routing?: NodeFunction; callback?: () => NodeFunction } | null | undefined;
  if (typeof app?.ready === 'function' && typeof app.routing === 'function') {
    // Fastify's plugins have to be there before its routes are; it is asked when the first request comes.
    let ready: Promise<unknown> | undefined;
    let opened = false;
    return (req, res) => {
      if (opened) {
        return app.routing!(req, res);
      }
      ready ??= Promise.resolve(app.ready!());
      return ready.then(() => {
        opened = true;
        app.routing!(req, res);
      });
    };
  }
  return typeof app?.callback === 'function' ? app.callback() : undefined;
}

class NodeRun extends HandlerRun {
  readonly input: HandlerInput;
  #socket: ClientSocket | undefined = undefined;
  #req: NodeRequest | undefined = undefined;
  #response: ResponseAdapter | undefined = undefined;

  constructor(r: Request, plan: HandlerPlan) {
    super(r, plan);
    this.input = new HandlerInput(r);
  }

  start(handler: NodeFunction): Result {
    const refused = checkForHandler(this.r, false);
    if (refused !== 0) {
      return refused;
    }
    const socket = new ClientSocket(this);
    const { req } = new RequestAdapter(this, socket);
    const response = new ResponseAdapter(this, req, socket);
    const { res } = response;
    this.#socket = socket;
    this.#req = req;
    this.#response = response;
    const result = this.within(() => handler(req, res));
    if (isPromise(result)) {
      result.then(undefined, (error: unknown) => this.inside(() => this.failed(error)));
    }
    if (this.answered) {
      this.attach();
      return this.code;
    }
    this.wait();
    return AGAIN;
  }

  /** Sends the head. */
  begin(source: Source): void {
    this.attach();
    this.rest();
    const broken = this.input.drop();
    if (broken !== 0) {
      this.go(broken);
      return;
    }
    this.go(respond(this.r, source));
  }

  over(): void {
    this.input.close();
    if (!this.done) {
      this.#req!.aborted = true;
      this.#req!.emit('aborted');
    }
    this.#response!.close();
    this.#req!.destroy();
    this.#socket!.destroy();
  }
}

/** The connection as handlers look at it: addresses, and whether it is encrypted. Nothing is written to it. */
class ClientSocket extends Duplex {
  readonly #run: NodeRun;
  readonly encrypted: boolean;

  constructor(run: NodeRun) {
    super({ autoDestroy: false });
    this.#run = run;
    this.encrypted = run.r.connection.tls !== undefined;
    this.on('error', () => {});
  }

  get remoteAddress(): string {
    return this.#run.r.connection.remoteAddress;
  }

  get remotePort(): number {
    return this.#run.r.connection.remotePort;
  }

  get remoteFamily(): string {
    return this.remoteAddress.includes(':') ? 'IPv6' : 'IPv4';
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, done: (error: Error) => void): void {
    done(new Error('the connection belongs to the server'));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // Destroying the connection before the answer is complete breaks it off.
    if (!this.#run.done && !this.#run.r.finished) {
      this.#run.breakOff();
    }
    done(error);
  }
}

/** Where a request or response keeps what the server knows of it. */
const ADAPTER = Symbol('sluice');

/**
 * Frameworks put objects of their own behind a request's and a response's class, so that what differs from that class has to be its own.
 */
type Adapted<A> = { readonly [ADAPTER]: A };

/** The request, whose body is asked for when somebody reads it. */
class RequestAdapter {
  readonly req: NodeRequest;
  readonly #run: NodeRun;
  #reading = false;

  constructor(run: NodeRun, socket: ClientSocket) {
    const { r } = run;
    this.#run = run;
    const req = new (nodeHttp().IncomingMessage)(socket as never);
    this.req = req;
    Object.assign(req, requestMethods, { [ADAPTER]: this });
    req.method = r.method;
    req.url = handlerTarget(r);
    req.httpVersionMajor = Math.floor(r.httpVersion / 1000);
    req.httpVersionMinor = r.httpVersion % 1000;
    req.httpVersion = `${req.httpVersionMajor}.${req.httpVersionMinor}`;
    const list = handlerHeaders(r).slice();
    (req as unknown as { _addHeaderLines(list: string[], count: number): void })._addHeaderLines(list, list.length);
    if (run.input.none) {
      req.complete = true;
      req.push(null);
    }
  }

  read(): void {
    const { req } = this;
    const { input } = this.#run;
    if (req.complete) {
      return;
    }
    if (this.#reading) {
      input.more();
      return;
    }
    this.#reading = true;
    input.read({
      piece: (bytes) => {
        this.#run.tell(pushPiece, { req, bytes });
        return req.readableLength < req.readableHighWaterMark;
      },
      end: () => {
        req.complete = true;
        this.#run.tell(pushPiece, { req, bytes: null });
      },
      broke: (error) => {
        req.aborted = true;
        this.#run.tell(breakInput, { req, error });
      },
    });
  }
}

const requestMethods = {
  _read(this: Adapted<RequestAdapter>): void {
    this[ADAPTER].read();
  },
  // The connection stays: the answer may still be given on it.
  _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error);
  },
};

type Callback = (error?: Error | null) => void;

/** The response, whose head and body go the way of every response of the server. */
class ResponseAdapter implements Source {
  readonly res: NodeResponse;
  readonly #run: NodeRun;
  readonly #pieces: Buffer[] = [];
  #held = 0;
  #wanted = false;
  #full = false;
  #begun = false;
  #given = false;
  #left = false;
  #callbacks: Callback[] = [];

  constructor(run: NodeRun, req: NodeRequest, socket: ClientSocket) {
    this.#run = run;
    const res = new (nodeHttp().ServerResponse)(req);
    this.res = res;
    res.sendDate = false;
    Object.assign(res, responseMethods, { [ADAPTER]: this, socket });
  }

  writeHead(status: number, rest: readonly unknown[]): void {
    const { res } = this;
    const text = typeof rest[0] === 'string' ? rest[0] : undefined;
    const headers = (text === undefined ? (rest[0] ?? rest[1]) : rest[1]) as Record<string, string> | readonly unknown[] | undefined;
    if (!res.headersSent && headers !== undefined && headers !== null) {
      this.#takeHeaders(headers);
    }
    if (text === undefined) {
      nodeHttp().writeHead.call(res, status);
    } else {
      nodeHttp().writeHead.call(res, status, text);
    }
  }

  #takeHeaders(headers: Readonly<Record<string, unknown>> | readonly unknown[]): void {
    const { res } = this;
    if (!Array.isArray(headers)) {
      for (const [name, value] of Object.entries(headers)) {
        if (value !== undefined) {
          res.setHeader(name, value as string);
        }
      }
      return;
    }
    const pairs: unknown[][] = Array.isArray(headers[0])
      ? headers
      : headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1]]] : []));
    for (const [name] of pairs) {
      res.removeHeader(name as string);
    }
    for (const [name, value] of pairs) {
      res.appendHeader(name as string, value as string);
    }
  }

  write(chunk: unknown, encoding: unknown, done: Callback | undefined): boolean {
    if (this.#left || this.#given) {
      return this.#late(done);
    }
    this.#add(chunk, encoding, done);
    this.begin(false);
    this.#offer();
    this.#full = this.#held >= ENOUGH;
    return !this.#full;
  }

  end(chunk: unknown, encoding: unknown, done: Callback | undefined): void {
    if (this.#left || this.#given) {
      if (chunk === undefined) {
        done?.();
      } else {
        this.#late(done);
      }
      return;
    }
    if (done !== undefined) {
      this.res.once('finish', done);
    }
    if (chunk !== undefined) {
      this.#add(chunk, encoding, undefined);
    }
    this.begin(true);
    this.#given = true;
    this.res.finished = true;
    this.#run.rest();
    this.#offer();
  }

  /** What comes after the answer, or for a client that has left: the first answer counts. */
  #late(done: Callback | undefined): boolean {
    let error = new Error('the client has left');
    if (this.#given) {
      error = Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' });
      this.#run.log(ERROR, 'js handler writes after the end of its answer');
    }
    process.nextTick(() => done?.(error));
    return false;
  }

  informational(status: number, fields: readonly string[]): void {
    sendInformation(this.#run.r, status, fields);
  }

  destroy(): void {
    const { res } = this;
    if (!res.destroyed) {
      res.destroyed = true;
      if (!this.#given && !this.#run.r.finished) {
        this.#run.breakOff();
      }
    }
  }

  #add(chunk: unknown, encoding: unknown, done: Callback | undefined): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
      throw Object.assign(new TypeError('The "chunk" argument must be of type string or an instance of Buffer or Uint8Array'), {
        code: 'ERR_INVALID_ARG_TYPE',
      });
    }
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (bytes.length > 0) {
      this.#pieces.push(bytes);
      this.#held += bytes.length;
    }
    if (done !== undefined) {
      this.#callbacks.push(done);
    }
  }

  /** Sends the head, with the length of the body if all of it is there. */
  begin(whole: boolean): void {
    if (this.#begun) {
      return;
    }
    const { res } = this;
    if (!res.headersSent) {
      res.writeHead(res.statusCode);
    }
    const { r } = this.#run;
    setFinalStatus(r, res.statusCode, res.statusMessage);
    for (const name of (res as unknown as { getRawHeaderNames(): string[] }).getRawHeaderNames()) {
      const lower = name.toLowerCase();
      const value = res.getHeader(lower);
      for (const one of Array.isArray(value) ? value : [value]) {
        addScriptHeader(r, name, lower, String(one));
      }
    }
    this.#begun = true;
    if (whole && r.out.contentLength === -1 && r.method !== 'HEAD') {
      r.out.contentLength = this.#held;
    }
    this.#run.begin(this);
  }

  pull(r: Request): void {
    this.#wanted = true;
    this.#offer();
    if (!this.#given && !r.finished) {
      this.#run.touch();
      if (this.#full && this.#held === 0) {
        this.#full = false;
        // Others have their turn before a handler writes more.
        setImmediate(drained, this);
      }
    }
  }

  #offer(): void {
    const { r } = this.#run;
    if (!this.#wanted || r.first === null || (this.#held === 0 && !this.#given)) {
      return;
    }
    this.#wanted = false;
    this.#run.rest();
    const all = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#pieces.length = 0;
    this.#held = 0;
    this.#tell();
    if (this.#given) {
      this.#run.done = true;
      if (r.source === this) {
        r.source = null;
      }
      process.nextTick(tellFinished, this, this.#run);
    }
    r.flushBody = !this.#given;
    r.first.send(r, all.length === 0 ? null : all, this.#given);
  }

  /** Calls back for what was written. */
  #tell(error?: Error): void {
    const callbacks = this.#callbacks;
    this.#callbacks = [];
    for (const done of callbacks) {
      process.nextTick(tellWritten, done, error, this.#run);
    }
  }

  /** Whoever waits to write more is told. */
  room(): void {
    if (!this.#left && !this.#given) {
      this.#run.tell(drain, this.res);
    }
  }

  /** The whole answer is on its way. */
  complete(): void {
    this.res.emit('prefinish');
    this.res.emit('finish');
  }

  abort(): void {
    // A response to HEAD has no body, but is complete all the same.
    if (this.#run.r.headerOnly) {
      this.#run.done = true;
      this.#given = true;
      this.res.finished = true;
      process.nextTick(tellFinished, this, this.#run);
    }
    this.#drop();
  }

  #drop(): void {
    this.#left = true;
    this.#pieces.length = 0;
    this.#held = 0;
    this.#tell(this.#run.done ? undefined : new Error('the client has left'));
  }

  /** The request is over. */
  close(): void {
    this.#drop();
    this.res.destroyed = true;
    process.nextTick(tellClosed, this, this.#run);
  }
}

const isNothing = (chunk: unknown): boolean => chunk === undefined || chunk === null || typeof chunk === 'function';
const callbackOf = (...args: unknown[]): Callback | undefined => args.find((one): one is Callback => typeof one === 'function');

type Response = NodeResponse & Adapted<ResponseAdapter>;

const responseMethods = {
  writeHead(this: Response, status: number, ...rest: unknown[]): Response {
    this[ADAPTER].writeHead(status, rest);
    return this;
  },
  _implicitHeader(this: Response): void {
    this.writeHead(this.statusCode);
  },
  write(this: Response, chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
    return this[ADAPTER].write(chunk, encoding, callbackOf(encoding, callback));
  },
  end(this: Response, chunk?: unknown, encoding?: unknown, callback?: unknown): Response {
    this[ADAPTER].end(isNothing(chunk) ? undefined : chunk, encoding, callbackOf(chunk, encoding, callback));
    return this;
  },
  flushHeaders(this: Response): void {
    this[ADAPTER].begin(false);
  },
  writeContinue(this: Response, callback?: () => void): void {
    this[ADAPTER].informational(100, []);
    callback?.();
  },
  writeProcessing(this: Response): void {
    this[ADAPTER].informational(102, []);
  },
  writeEarlyHints(this: Response, hints: Record<string, string | string[]>, callback?: () => void): void {
    const fields = Object.entries(hints).flatMap(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]);
    this[ADAPTER].informational(103, fields);
    callback?.();
  },
  setTimeout(this: Response): Response {
    return this;
  },
  destroy(this: Response): Response {
    this[ADAPTER].destroy();
    return this;
  },
};

function drained(response: ResponseAdapter): void {
  response.room();
}

// What tells the handler's code of something: whatever that throws or begins is the handler's own.

const pushPiece = ({ req, bytes }: { readonly req: NodeRequest; readonly bytes: Buffer | null }): void => void req.push(bytes);
const drain = (res: NodeResponse): void => void res.emit('drain');
const finish = (response: ResponseAdapter): void => response.complete();
const close = (response: ResponseAdapter): void => void response.res.emit('close');

function breakInput({ req, error }: { readonly req: NodeRequest; readonly error: Error }): void {
  // Nobody has to listen for it: the request itself has its log line.
  req.destroy(req.listenerCount('error') > 0 ? error : undefined);
}

function tellFinished(response: ResponseAdapter, run: HandlerRun): void {
  run.tell(finish, response);
}

function tellClosed(response: ResponseAdapter, run: HandlerRun): void {
  run.tell(close, response);
}

function tellWritten(done: Callback, error: Error | undefined, run: HandlerRun): void {
  run.tell(done as (error: Error | undefined) => void, error);
}
