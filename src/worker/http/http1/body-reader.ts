import { ERROR } from '../../../shared/log/level.js';
import { asStatus, OK, type Result } from '../../task/codes.js';
import type { BodySink } from '../request/client-exchange.js';
import { clientSlot } from '../request/client-settings.js';
import type { Request } from '../request/request.js';
import { type BodyFraming, makeFraming } from './body-framing.js';
import type { ClientInput } from './client-input.js';

/**
 * `BodyReader.read`: the bytes at hand were read as far as they are wanted; any other positive number is the status for a malformed
 * body.
 */
export const BODY_READ = 0;
/** `BodyReader.read`: the sink of before takes no more. */
export const BODY_SINK_GONE = -1;

/** Reads the body of one request: for a sink, or to drop it. nginx: ngx_http_do_read_client_request_body, ngx_http_discard_request_body. */
export class BodyReader {
  readonly request: Request;
  readonly #framing: BodyFraming;
  #sink: BodySink | null = null;
  #paused = false;

  constructor(r: Request) {
    this.request = r;
    this.#framing = makeFraming(r);
  }

  /** The body has been read to its end, or nothing more is read of it. */
  get done(): boolean {
    return this.#framing.done;
  }

  /** Somebody takes the bytes at hand now. */
  get wanted(): boolean {
    if (this.#framing.done) {
      return false;
    }
    return this.#sink === null ? this.request.discardingBody : !this.#paused;
  }

  /** A sink has not been given the whole body. */
  get unfinished(): boolean {
    return this.#sink !== null && !this.#framing.done;
  }

  /** The sink takes no more for now. */
  get paused(): boolean {
    return this.#paused;
  }

  /** A sink waits for more to come. */
  get waiting(): boolean {
    return this.#sink !== null && !this.#paused;
  }

  /** Gives what is read from now on to a sink. */
  start(sink: BodySink): void {
    this.#sink = sink;
    this.#paused = false;
  }

  /** The sink takes more. Returns false when it was not paused. */
  resume(): boolean {
    const paused = this.#paused;
    this.#paused = false;
    return paused;
  }

  /** Nobody takes what comes from now on. */
  forgetSink(): void {
    this.#sink = null;
  }

  /** Gives the bytes at hand to the sink, or drops them. */
  read(input: ClientInput): number {
    const framing = this.#framing;
    const sink = this.#sink;
    framing.limit(sink === null ? 0 : this.request.location.conf(clientSlot).clientMaxBodySize);
    while (input.at < input.end && !framing.done) {
      const before = input.at;
      const status = framing.read(input.bytes, before, input.end);
      input.use(framing.next);
      // As in nginx, what nobody takes counts for nothing.
      if (sink !== null) {
        this.request.requestLength += input.at - before;
      }
      if (status !== 0) {
        this.#broken();
        // What came before it counts, whether it came with it or earlier.
        if (sink !== null && framing.end > framing.start) {
          sink.data(input.bytes, framing.start, framing.end, 0);
          if (this.#sink !== sink) {
            return BODY_SINK_GONE;
          }
        }
        return status;
      }
      if (sink !== null && (framing.end > framing.start || framing.over)) {
        const more = sink.data(input.bytes, framing.start, framing.end, framing.left);
        // One that has gone did not ask for a pause, whatever it returned.
        if (this.#sink !== sink) {
          return BODY_SINK_GONE;
        }
        if (!more) {
          this.#paused = true;
          break;
        }
        if (framing.over) {
          framing.limit(0);
        }
      }
    }
    return BODY_READ;
  }

  /** Drops what is at hand. Returns 0, or the status for a malformed body. */
  discard(input: ClientInput): Result {
    const framing = this.#framing;
    let status = 0;
    framing.limit(0);
    while (status === 0 && input.at < input.end && !framing.done) {
      status = framing.read(input.bytes, input.at, input.end);
      input.use(framing.next);
    }
    if (status !== 0) {
      this.#broken();
    }
    return status === 0 ? OK : asStatus(status);
  }

  #broken(): void {
    this.request.log(ERROR, 'client sent invalid chunked body');
    this.#framing.fail();
  }

  /** Tells the sink, if there is one, that it has the whole body. */
  end(): void {
    const sink = this.#sink;
    this.#sink = null;
    sink?.end();
  }

  /** Tells the sink that the body broke off or is malformed. Returns false when there is none. */
  fail(status: number): boolean {
    const sink = this.#sink;
    if (sink === null) {
      return false;
    }
    this.#sink = null;
    sink.fail(status);
    return true;
  }
}
