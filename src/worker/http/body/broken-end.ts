import { FAILED } from '../../task/codes.js';
import type { Source } from '../request/body-stage.js';
import type { Request } from '../request/request.js';

/**
 * Stands in for the source of a response that cannot go on: what was passed on before reaches the client, which sees no end of the body.
 */
export class BrokenEnd implements Source {
  readonly #source: Source | null;
  #flushed = false;

  /** `source`: what the body came from, which is of no use any more. */
  constructor(source: Source | null) {
    this.#source = source;
  }

  pull(r: Request): void {
    if (this.#flushed) {
      r.source = this.#source;
      r.terminate(FAILED);
      return;
    }
    this.#flushed = true;
    r.flushBody = true;
    r.first!.send(r, null, false);
  }

  abort(r: Request): void {
    this.#source?.abort(r);
  }
}
