import { constants } from 'node:zlib';
import { ALERT, ERROR } from '../../../shared/log/level.js';
import { EMPTY } from '../../bytes/empty.js';
import type { BodyStage, Chunk } from '../request/body-stage.js';
import type { Request } from '../request/request.js';
import { BrokenEnd } from './broken-end.js';
import { type ExpandingStage, HeldInput } from './held-input.js';
import type { Transform, TransformError } from './kept-stream.js';

const { Z_BUF_ERROR, Z_FINISH } = constants;

/** What a decompressor gives at once: its input may become a thousand times longer. */
const PIECE = 64 * 1024;

/**
 * Runs a body through a compressor, or with `expands` through a decompressor, of which one piece of bounded length leaves at a time. Calls
 * `whole` with all that came out when it fits in `keep` bytes.
 */
export class TransformStage implements BodyStage, ExpandingStage {
  readonly #transform: Transform;
  readonly #next: BodyStage;
  readonly #limit: number;
  readonly #whole: ((body: Buffer) => void) | undefined;
  #kept: Buffer[] | undefined;
  #room: number;
  /** Bytes that went in and came out, for `$gzip_ratio`. */
  bytesIn = 0;
  bytesOut = 0;
  /** Made once input is held. */
  #held: HeldInput | null = null;
  #input: Buffer = EMPTY;
  /** The held input is the last. */
  #last = false;
  /** The input is not what it should be. */
  #broken = false;

  constructor(r: Request, transform: Transform, next: BodyStage, expands: boolean, keep = 0, whole?: (body: Buffer) => void) {
    this.#transform = transform;
    this.#next = next;
    this.#limit = expands ? PIECE : Number.POSITIVE_INFINITY;
    this.#whole = whole;
    this.#kept = whole === undefined ? undefined : [];
    this.#room = keep;
    r.onFinish(() => transform.close());
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    this.#take(r, chunk ?? EMPTY, last, false);
  }

  sendLent(r: Request, bytes: Buffer, start: number, end: number, last: boolean): void {
    this.#take(r, bytes.subarray(start, end), last, true);
  }

  goOn(r: Request): void {
    this.#take(r, this.#input, this.#last, false);
  }

  /** Works on input, whose memory is the caller's if it is `lent`. */
  #take(r: Request, input: Buffer, last: boolean, lent: boolean): void {
    const transform = this.#transform;
    if (this.#broken) {
      this.#next.send(r, null, false);
      return;
    }
    const expands = this.#limit === PIECE;
    let out: Buffer;
    let used: number;
    let pending: boolean;
    let failure: TransformError | null = null;
    try {
      // What comes out of an input that breaks off would be lost with the call that says so: that one has no input.
      out = transform.write(input, last && !expands ? 'end' : last || r.flushBody ? 'flush' : 'more', this.#limit);
      ({ used, pending } = transform);
    } catch (error) {
      this.#fail(r, EMPTY, error as TransformError, last);
      return;
    }
    if (last && expands && !pending) {
      try {
        const end = transform.write(EMPTY, 'end', this.#limit);
        out = end.length === 0 ? out : Buffer.concat([out, end]);
        pending = transform.pending;
      } catch (error) {
        failure = error as TransformError;
      }
    }
    this.bytesIn += used;
    this.bytesOut += out.length;
    if (failure !== null) {
      this.#fail(r, out, failure, last);
      return;
    }
    this.#keep(out, last && !pending);
    if (pending) {
      const rest = input.subarray(used);
      this.#input = lent ? Buffer.from(rest) : rest;
      this.#last = last;
      this.#held ??= new HeldInput(this);
      this.#held.hold(r, out.length, last);
      this.#next.send(r, out, false);
      return;
    }
    this.#input = EMPTY;
    this.#held?.done();
    if (out.length === 0 && !last) {
      r.more();
    } else {
      this.#next.send(r, out, last);
    }
  }

  /** The body cannot go on: the client gets what came out, without an end. `out`: the last of that. */
  #fail(r: Request, out: Buffer, error: TransformError, last: boolean): void {
    if (this.#limit === PIECE) {
      // What a backend calls gzip is its own affair.
      const { code } = error;
      r.log(
        ERROR,
        last && code === Z_BUF_ERROR ? `inflate() returned ${code} on response end` : `inflate() failed: ${last ? Z_FINISH : 0}, ${code}`,
      );
    } else {
      r.log(ALERT, `transforming the response body failed: ${error.message}`);
    }
    this.#held?.done();
    this.#broken = true;
    this.#input = EMPTY;
    r.source = new BrokenEnd(r.source);
    this.#next.send(r, out, false);
  }

  #keep(out: Buffer, last: boolean): void {
    if (this.#kept === undefined) {
      return;
    }
    this.#room -= out.length;
    if (this.#room < 0) {
      this.#kept = undefined;
    } else {
      this.#kept.push(out);
      if (last) {
        this.#whole?.(Buffer.concat(this.#kept));
      }
    }
  }

  abort(r: Request): void {
    this.#next.abort?.(r);
  }
}
