import type { Source } from '../http/request/body-stage.js';
import type { Request } from '../http/request/request.js';

/** A response body that a handler writes piece by piece. */
export class ScriptSource implements Source {
  readonly works = true;
  readonly #pieces: Buffer[] = [];
  #ended = false;
  #wanted = false;

  /** Adds a piece; empty ones are of no interest. */
  write(r: Request, piece: Buffer): void {
    if (piece.length > 0 && !this.#ended) {
      this.#pieces.push(piece);
      this.#offer(r);
    }
  }

  /** Nothing follows. */
  end(r: Request): void {
    this.#ended = true;
    this.#offer(r);
  }

  pull(r: Request): void {
    this.#wanted = true;
    this.#offer(r);
  }

  #offer(r: Request): void {
    if (!this.#wanted || r.first === null || (this.#pieces.length === 0 && !this.#ended)) {
      return;
    }
    this.#wanted = false;
    const all = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#pieces.length = 0;
    if (this.#ended && r.source === this) {
      r.source = null;
    }
    r.flushBody = !this.#ended;
    r.first.send(r, all.length === 0 ? null : all, this.#ended);
  }

  abort(): void {
    this.#ended = true;
    this.#pieces.length = 0;
  }
}
