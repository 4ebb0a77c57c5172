import type { BodyStage, Chunk } from '../request/body-stage.js';
import type { Request } from '../request/request.js';

/** Drops the body that comes and sends another one in its place. */
export class ReplacedStage implements BodyStage {
  readonly #body: Chunk;
  readonly #next: BodyStage;

  constructor(body: Chunk, next: BodyStage) {
    this.#body = body;
    this.#next = next;
  }

  send(r: Request, _chunk: Chunk | null, last: boolean): void {
    if (last) {
      this.#next.send(r, this.#body, true);
    } else {
      r.more();
    }
  }

  abort(r: Request): void {
    this.#next.abort?.(r);
  }
}
