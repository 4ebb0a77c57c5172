import type { ComplexValue } from '../../../shared/value/complex.js';
import { EMPTY } from '../../bytes/empty.js';
import { type ExpandingStage, HeldInput } from '../../http/body/held-input.js';
import type { BodyStage, Chunk } from '../../http/request/body-stage.js';
import type { Request } from '../../http/request/request.js';
import type { Patterns } from './patterns.js';

/** What is passed on at once, in bytes: replacements may be much longer than what they replace. */
const PIECE = 64 * 1024;

/** Replaces patterns in a body that comes in pieces; what may be the start of one is held back. nginx: ngx_http_sub_body_filter. */
export class SubStage implements BodyStage, ExpandingStage {
  readonly #patterns: Patterns;
  readonly #values: readonly ComplexValue<Request>[];
  readonly #once: boolean;
  readonly #next: BodyStage;
  /** The replacements, evaluated where they were needed first. */
  readonly #texts: (Buffer | undefined)[] = [];
  /** With `sub_filter_once`: the patterns that were replaced. */
  readonly #used: boolean[] = [];
  #left: number;
  /** What may be the start of a pattern. */
  #held: Buffer = EMPTY;
  /** Input that was not searched, since what came before it has become long enough; the last input if `#last`. */
  #input: Buffer = EMPTY;
  #last = false;
  /** Made once input is held. */
  #hold: HeldInput | null = null;

  constructor(patterns: Patterns, values: readonly ComplexValue<Request>[], once: boolean, next: BodyStage) {
    this.#patterns = patterns;
    this.#values = values;
    this.#once = once;
    this.#next = next;
    this.#left = values.length;
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    const before = this.#held;
    this.#take(r, chunk === null ? before : before.length === 0 ? chunk : Buffer.concat([before, chunk]), last, chunk === null);
  }

  goOn(r: Request): void {
    this.#take(r, this.#input, this.#last, false);
  }

  #take(r: Request, input: Buffer, last: boolean, flush: boolean): void {
    this.#input = EMPTY;
    const body = input.length === 0 ? input : this.#replace(r, input, last);
    if (this.#input.length > 0) {
      this.#last = last;
      this.#hold ??= new HeldInput(this);
      this.#hold.hold(r, body.length, last);
      this.#next.send(r, body, false);
      return;
    }
    this.#hold?.done();
    if (body.length > 0 || last || flush) {
      this.#next.send(r, body.length === 0 ? null : body, last);
    } else {
      r.more();
    }
  }

  #replace(r: Request, input: Buffer, last: boolean): Buffer {
    let body = input;
    const patterns = this.#patterns;
    const pieces: Buffer[] = [];
    let from = 0;
    let size = 0;
    this.#held = EMPTY;
    while (this.#left > 0) {
      if (size >= PIECE && from < body.length) {
        this.#input = body.subarray(from);
        return Buffer.concat(pieces);
      }
      patterns.search(body, from, this.#used);
      const { start, found } = patterns;
      if (found === -1) {
        if (!last && start < body.length) {
          // The body's memory is not ours to keep for long.
          this.#held = Buffer.from(body.subarray(start));
          body = body.subarray(0, start);
        }
        break;
      }
      if (start > from) {
        pieces.push(body.subarray(from, start));
      }
      const text = this.#text(r, found);
      pieces.push(text);
      size += start - from + text.length;
      from = start + patterns.texts[found]!.length;
      if (this.#once) {
        this.#used[found] = true;
        this.#left--;
      }
    }
    if (from === 0) {
      return body;
    }
    pieces.push(body.subarray(from));
    return Buffer.concat(pieces);
  }

  #text(r: Request, n: number): Buffer {
    this.#texts[n] ??= Buffer.from(this.#values[n]!.eval(r), 'latin1');
    return this.#texts[n];
  }

  abort(r: Request): void {
    this.#next.abort?.(r);
  }
}
