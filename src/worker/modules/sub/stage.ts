import { EMPTY } from '../../../shared/lib/empty.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { BodyStage, Chunk } from '../../http/request/body-stage.js';
import type { Request } from '../../http/request/request.js';
import type { Patterns } from './patterns.js';

/** Replaces patterns in a body that comes in pieces; what may be the start of one is held back. nginx: ngx_http_sub_body_filter. */
export class SubStage implements BodyStage {
  readonly #patterns: Patterns;
  readonly #values: readonly ComplexValue<Request>[];
  readonly #once: boolean;
  readonly #next: BodyStage;
  /** The replacements, evaluated where they were needed first. */
  readonly #texts: (Buffer | undefined)[] = [];
  /** With `sub_filter_once`: the patterns that were replaced. */
  readonly #used: boolean[] = [];
  #left: number;
  #held: Buffer = EMPTY;

  constructor(patterns: Patterns, values: readonly ComplexValue<Request>[], once: boolean, next: BodyStage) {
    this.#patterns = patterns;
    this.#values = values;
    this.#once = once;
    this.#next = next;
    this.#left = values.length;
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    const before = this.#held;
    let body = chunk === null ? before : before.length === 0 ? chunk : Buffer.concat([before, chunk]);
    if (body.length > 0) {
      body = this.#replace(r, body, last);
    }
    if (body.length > 0 || last || chunk === null) {
      this.#next.send(r, body.length === 0 ? null : body, last);
    } else {
      r.more();
    }
  }

  #replace(r: Request, body: Buffer, last: boolean): Buffer {
    const patterns = this.#patterns;
    const pieces: Buffer[] = [];
    let from = 0;
    this.#held = EMPTY;
    while (this.#left > 0) {
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
      pieces.push(this.#text(r, found));
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
