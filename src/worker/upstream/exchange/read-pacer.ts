import { setTimer } from '../../../shared/time/timer.js';
import { nowSeconds } from '../../../shared/time/unix-time.js';
import { Gathered } from '../../bytes/gathered.js';
import { sizeOf } from '../../task/size-of.js';
import type { ResponseBodyReader } from './response-body-reader.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Reads a response no faster than `*_limit_rate` says. nginx: the limit_rate part of ngx_event_pipe_read_upstream. */
export class ReadPacer {
  readonly #reader: ResponseBodyReader;
  readonly #rate: number;
  readonly #startSecond = nowSeconds();
  #read = 0;
  readonly #held = new Gathered();
  #timer: NodeJS.Timeout | undefined = undefined;
  #ended = false;

  private constructor(reader: ResponseBodyReader, rate: number) {
    this.#reader = reader;
    this.#rate = rate;
  }

  /** The pacer of a response, or null when its rate is not limited. */
  static begin(u: UpstreamRequest, reader: ResponseBodyReader): ReadPacer | null {
    const { limitRate } = u.conf.settings;
    if (limitRate === undefined) {
      return null;
    }
    const rate = sizeOf(u.r, limitRate.eval(u.r));
    return rate === 0 ? null : new ReadPacer(reader, rate);
  }

  /** Bytes wait for their time. */
  get holding(): boolean {
    return this.#timer !== undefined;
  }

  /** There are bytes that were not let through. */
  get leftOver(): boolean {
    return this.#held.length > 0;
  }

  /** Lets bytes through as far as the rate allows and keeps the rest. */
  take(bytes: Buffer, start: number, end: number): void {
    if (this.#timer !== undefined) {
      this.#held.add(bytes, start, end);
      return;
    }
    const allowed = this.#rate * (nowSeconds() - this.#startSecond + 1) - this.#read;
    const size = Math.min(end - start, Math.max(allowed, 0));
    if (size < end - start) {
      this.#held.add(bytes, start + size, end);
    }
    const behind = size > 0 ? size : 1 - allowed;
    this.#reader.pause();
    this.#timer = setTimer(goOn, Math.ceil((behind * 1000) / this.#rate), this);
    if (size === 0) {
      return;
    }
    this.#read += size;
    this.#reader.paced(bytes, start, start + size);
  }

  expired(): void {
    this.#timer = undefined;
    if (this.#held.length > 0) {
      const bytes = this.#held.joined();
      this.#held.clear();
      this.take(bytes, 0, bytes.length);
    }
    if (this.#timer !== undefined) {
      return;
    }
    if (this.#ended) {
      this.#reader.finish();
    } else {
      this.#reader.resume();
    }
  }

  /** The backend has closed: says so once all that is held was read. Returns false when nothing is held. */
  endAfterHeld(): boolean {
    if (this.#timer === undefined) {
      return false;
    }
    this.#ended = true;
    return true;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#held.clear();
  }
}

function goOn(pacer: ReadPacer): void {
  pacer.expired();
}
