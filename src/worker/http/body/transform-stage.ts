import { ALERT } from '../../../shared/log/level.js';
import { EMPTY } from '../../bytes/empty.js';
import { FAILED } from '../../task/codes.js';
import type { BodyStage, Chunk } from '../request/body-stage.js';
import type { Request } from '../request/request.js';
import { type ExpandingStage, HeldInput } from './held-input.js';
import type { Transform } from './kept-stream.js';

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
    let out: Buffer;
    try {
      out = transform.write(input, last ? 'end' : r.flushBody ? 'flush' : 'more', this.#limit);
    } catch (error) {
      r.log(ALERT, `transforming the response body failed: ${(error as Error).message}`);
      r.terminate(FAILED);
      return;
    }
    const { pending, used } = transform;
    this.bytesIn += used;
    this.bytesOut += out.length;
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
