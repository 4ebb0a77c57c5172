import { enter, leave } from '../../task/at-work.js';
import type { SharingReader } from '../../time/fair-share.js';
import type { Source } from '../request/body-stage.js';
import type { Request } from '../request/request.js';

/** A stage that makes of one piece more than is passed on at a time. */
export interface ExpandingStage {
  /** The next stage takes another piece: passes one on, or asks for more when nothing is left. */
  goOn(r: Request): void;
}

/**
 * Stands in for the source of a response while a stage holds input that it has not worked on: whoever asks for the next piece asks the
 * stage, and so a short input that becomes long is worked on no faster than the client takes it. Of several stages the last one, which
 * holds what the others have passed on, is asked first. A stage behind the one that joins subrequests has no use for it.
 */
export class HeldInput implements Source, SharingReader {
  readonly #stage: ExpandingStage;
  #source: Source | null = null;
  /** The request while the stage holds input. */
  #r: Request | null = null;

  constructor(stage: ExpandingStage) {
    this.#stage = stage;
  }

  /** The stage holds input, of which `bytes` were passed on just now. `last`: the source has no more. */
  hold(r: Request, bytes: number, last: boolean): void {
    r.http.fairShare.spend(bytes);
    if (this.#r === null) {
      this.#r = r;
      this.#source = last ? null : r.source;
      r.source = this;
    }
  }

  /** All input is worked on: the source has its turn again. */
  done(): void {
    const r = this.#r;
    if (r !== null) {
      this.#r = null;
      r.source = this.#source;
      this.#source = null;
    }
  }

  pull(r: Request): void {
    const { fairShare } = r.http;
    if (fairShare.over) {
      fairShare.wait(this);
    } else {
      this.#stage.goOn(r);
    }
  }

  readShare(): void {
    const r = this.#r;
    if (r !== null && !r.finished) {
      const before = enter(r);
      this.#stage.goOn(r);
      leave(before);
    }
  }

  abort(r: Request): void {
    const source = this.#source;
    this.#r = null;
    this.#source = null;
    source?.abort(r);
  }
}
