import { ERROR } from '../../../shared/log/level.js';
import type { Source } from '../../http/request/body-stage.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { respond, respondBuffer, sendHeader } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { AGAIN, type Result } from '../../task/codes.js';
import { addScriptHeader, setFinalStatus } from '../response-head.js';
import { bytesOf } from '../text.js';
import { type HandlerPlan, HandlerRun } from './handler-run.js';
import type { FromIsolate } from './isolate-messages.js';
import type { IsolatePool, IsolateUser } from './isolate-pool.js';
import { checkForHandler, handlerHeaders, handlerUrl } from './request-url.js';

/** Milliseconds that a handler has to come to its end once its time is over. */
const GRACE = 1000;
/** Milliseconds that a handler whose client has left may go on, where there is no `js_timeout`. */
const UNBOUNDED = 60_000;

/** Answers each request with what a handler makes of it in a thread of the pool. */
export const isolatedHandler =
  (plan: HandlerPlan, pool: IsolatePool): PhaseHandler =>
  (r) =>
    new IsolatedRun(r, plan, pool).start();

class IsolatedRun extends HandlerRun implements IsolateUser, Source {
  readonly #pool: IsolatePool;
  readonly #name: string;
  readonly #timeout: number;
  #startedAt = 0;
  #id = 0;

  constructor(r: Request, plan: HandlerPlan, pool: IsolatePool) {
    super(r, plan);
    this.#pool = pool;
    this.#name = plan.name;
    this.#timeout = plan.timeout;
  }

  start(): Result {
    const refused = checkForHandler(this.r, true);
    if (refused !== 0) {
      return refused;
    }
    // The request is copied whole: a thread that is ended takes no client's connection with it.
    readBody(this.r, () => this.inside(() => this.#send()));
    if (this.answered) {
      return this.code;
    }
    this.wait();
    return AGAIN;
  }

  #send(): void {
    const { r } = this;
    const body = r.body === null || r.body.length === 0 || r.method === 'GET' || r.method === 'HEAD' ? null : r.body.whole();
    const headers = handlerHeaders(r);
    this.touch();
    this.#startedAt = performance.now();
    this.#id = this.#pool.run(this, {
      name: this.#name,
      method: r.method,
      url: handlerUrl(r),
      headers,
      body: body === null ? null : new Uint8Array(body),
      remoteAddress: r.connection.remoteAddress,
    });
    if (this.#id === 0) {
      r.log(ERROR, 'too many requests wait for the threads of "js_isolation"');
      this.breakOff(503);
    }
  }

  head({ status, statusText, headers, body, time }: FromIsolate & { readonly t: 'head' }): void {
    this.stats.ran(time);
    if (this.answered || this.r.finished) {
      return;
    }
    this.rest();
    this.inside(() => {
      const { r } = this;
      try {
        setFinalStatus(r, status, statusText === '' ? undefined : bytesOf(statusText));
        for (let i = 0; i < headers.length; i += 2) {
          addScriptHeader(r, headers[i]!, headers[i]!, headers[i + 1]!);
        }
      } catch (error) {
        this.failed(error);
        return;
      }
      if (body === null) {
        this.go(respond(r, this));
        return;
      }
      this.done = true;
      const bodiless = body.length === 0 && (r.methodBit === METHOD.HEAD || status === 204 || status === 304);
      this.go(bodiless ? sendHeader(r) : respondBuffer(r, status, Buffer.from(body.buffer, body.byteOffset, body.length)));
    });
  }

  piece(bytes: Uint8Array): void {
    const { r } = this;
    this.rest();
    if (!r.finished && !this.done) {
      this.inside(() => {
        if (bytes.length === 0) {
          r.more();
          return;
        }
        r.flushBody = true;
        r.first!.send(r, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), false);
      });
    }
  }

  end(): void {
    const { r } = this;
    this.rest();
    if (!r.finished && !this.done) {
      this.done = true;
      this.inside(() => {
        if (r.source === this) {
          r.source = null;
        }
        r.flushBody = false;
        r.first!.send(r, null, true);
      });
    }
  }

  isolateFailed(message: string): void {
    if (!this.r.finished) {
      // Without a message the log has it already.
      this.inside(() => (message === '' ? this.breakOff() : this.failed(message)));
    }
  }

  pull(): void {
    this.touch();
    this.#pool.more(this.#id);
  }

  abort(): void {
    this.over();
  }

  over(): void {
    if (this.#id !== 0) {
      // A handler whose client has left may go on for as long as the client might have waited.
      const left = this.#timeout === 0 ? UNBOUNDED : this.#timeout - (performance.now() - this.#startedAt);
      this.#pool.cancel(this.#id, Math.max(GRACE, left));
      this.#id = 0;
    }
  }
}
