import { ERROR } from '../../../shared/log/level.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request as ServerRequest } from '../../http/request/request.js';
import { respond, respondBuffer, sendHeader } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { AGAIN, type Result } from '../../task/codes.js';
import { requestObject } from '../request-object.js';
import { addScriptHeader, setFinalStatus } from '../response-head.js';
import { isPromise } from '../script-promise.js';
import { exceptionText } from '../task.js';
import { bytesOf } from '../text.js';
import { type HandlerPlan, HandlerRun } from './handler-run.js';
import { LightRequest, openToLight } from './light-request.js';
import { isMadeBy, LightResponse, NodeResponse, openResponse } from './light-response.js';
import { ReadableSource } from './readable-source.js';
import { checkForHandler } from './request-url.js';

/** A handler as the web has it: a request in, a response out. */
export type FetchFunction = (request: Request, env: unknown, context: unknown) => unknown;

let opened = false;

/**
 * Puts classes over Node's globals that cost less and that nothing else tells apart from them. Once for the process, before the first
 * handler is loaded.
 */
export function openGlobals(): void {
  if (!opened) {
    opened = true;
    Object.assign(globalThis, openToLight(), { Response: openResponse() });
  }
}

/** Answers each request with what a function makes of it. */
export const fetchHandler =
  (plan: HandlerPlan, handler: FetchFunction): PhaseHandler =>
  (r) =>
    new FetchRun(r, plan, handler).start();

/** The second argument of handlers: what a Request has no place for. */
class FetchEnv {
  readonly #r: ServerRequest;

  constructor(r: ServerRequest) {
    this.#r = r;
  }

  /** The request as the handlers of njs have it, with `variables`, `subrequest` and all else. */
  get r(): object {
    return requestObject(this.#r);
  }

  get remoteAddress(): string {
    return this.#r.connection.remoteAddress;
  }
}

/** The third argument of handlers: how they have work done behind the answer. */
class FetchContext {
  readonly #run: FetchRun;

  constructor(run: FetchRun) {
    this.#run = run;
  }

  /** The promise is looked after: what it rejects with is logged. */
  waitUntil(work: unknown): void {
    Promise.resolve(work).catch((error: unknown) => this.#run.log(ERROR, `js exception: ${exceptionText(error)}`));
  }

  /** Nothing stands behind the handler that could answer in its place. */
  passThroughOnException(): void {}

  get props(): object {
    return {};
  }
}

class FetchRun extends HandlerRun {
  readonly #handler: FetchFunction;
  readonly #request: LightRequest;

  constructor(r: ServerRequest, plan: HandlerPlan, handler: FetchFunction) {
    super(r, plan);
    this.#handler = handler;
    this.#request = new LightRequest(r);
  }

  start(): Result {
    const { r } = this;
    const refused = checkForHandler(r, true);
    if (refused !== 0) {
      return refused;
    }
    const result = this.within(() => this.#handler(this.#request as unknown as Request, new FetchEnv(r), new FetchContext(this)));
    if (isPromise(result)) {
      const ended = this.answered;
      if (!ended) {
        this.wait();
      }
      // What it comes to belongs to this request even if that has its answer, as after a body that broke off at once.
      result.then(
        (response) => this.#later(response),
        (error: unknown) => this.#rejected(error),
      );
      return ended ? this.code : AGAIN;
    }
    if (!this.answered) {
      this.#answer(result);
    }
    if (this.answered) {
      return this.code;
    }
    this.wait();
    return AGAIN;
  }

  #later(response: unknown): void {
    if (!this.answered && !this.r.finished) {
      this.rest();
      this.inside(() => this.#answer(response));
    }
  }

  #rejected(error: unknown): void {
    if (!this.answered && !this.r.finished) {
      this.inside(() => this.failed(error));
    }
  }

  #answer(response: unknown): void {
    try {
      this.#send(response);
    } catch (error) {
      this.failed(error);
    }
  }

  #send(response: unknown): void {
    if (!isResponse(response)) {
      this.failed(new TypeError('the handler has returned no Response'));
      return;
    }
    const { r } = this;
    const broken = LightRequest.input(this.#request).drop();
    if (broken !== 0) {
      this.go(broken);
      return;
    }
    const light = LightResponse.is(response as object);
    const body = light ? LightResponse.plain(response as unknown as LightResponse) : undefined;
    const list = light ? LightResponse.list(response as unknown as LightResponse) : listOf(response);
    const { statusText } = response;
    const status = setFinalStatus(r, response.status, statusText === '' ? undefined : bytesOf(statusText));
    // What Node fetched it has unpacked already.
    const unpacked = !light && response.url !== '';
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i]!;
      if (!(unpacked && (name === 'content-encoding' || name === 'content-length'))) {
        addScriptHeader(r, name, name, list[i + 1]!);
      }
    }
    if (typeof body === 'string' || body instanceof Uint8Array) {
      this.done = true;
      this.go(
        respondBuffer(r, status, typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.length)),
      );
      return;
    }
    const stream = body === null ? null : (response.body as ReadableStream<Uint8Array> | null);
    if (stream === null) {
      this.done = true;
      this.go(this.#empty());
      return;
    }
    if (stream.locked) {
      this.failed(new TypeError('the body of the Response is in use'));
      return;
    }
    this.attach();
    this.go(respond(r, new ReadableSource(this, stream)));
  }

  /** A response without a body. Its length stands in the head, unless it is for HEAD, where the body that it speaks of is not known. */
  #empty(): Result {
    const { r } = this;
    if (r.methodBit === METHOD.HEAD || r.out.status === 204 || r.out.status === 304) {
      return sendHeader(r);
    }
    return respondBuffer(r, r.out.status, Buffer.alloc(0));
  }

  over(): void {
    LightRequest.close(this.#request, this.done);
  }
}

const isResponse = (value: unknown): value is Response => isMadeBy(NodeResponse, value);

function listOf(response: Response): readonly string[] {
  const list: string[] = [];
  for (const [name, value] of response.headers) {
    list.push(name, value);
  }
  return list;
}
