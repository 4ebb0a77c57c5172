import type { BodyStage, Chunk } from '../request/body-stage.js';
import { OK } from '../request/codes.js';
import { finalize } from '../request/finalize.js';
import type { Request } from '../request/request.js';

/** The source may be asked for the next piece. */
const IDLE = 0;
/** The source was asked; its piece is on its way through the stages before this one. */
const ASKED = 1;
/** A stage before this one holds a piece back and will send it later. */
const PAUSED = 2;

/**
 * Joins the body of a request and those of its subrequests in the order in which they were begun. It stands after the
 * filters that start subrequests and before those that see the joined body. What it holds comes before what the source
 * still has, so {@link Request.more} asks it first. nginx: ngx_http_postpone_filter.
 */
export class PostponeStage implements BodyStage {
  readonly #r: Request;
  readonly #next: BodyStage;
  readonly #queue: (Chunk | Slot)[] = [];
  #upstream = IDLE;
  /** The next stage takes another piece. */
  #wanted = false;
  #ended = false;
  #flowing = false;
  /** Called when the request's own body has come to its end, to add what follows it. */
  tail: (() => void) | null = null;

  constructor(r: Request, next: BodyStage) {
    this.#r = r;
    this.#next = next;
  }

  /** Adds a piece of the request's own body, for a stage that makes several out of one. */
  put(chunk: Chunk): void {
    if (chunk.length > 0) this.#queue.push(chunk);
  }

  /** Keeps a place for a subrequest's body. */
  slot(): Slot {
    const slot = new Slot(this);
    this.#queue.push(slot);
    return slot;
  }

  /** Says that the piece which the source gave is held back, until the next {@link send}. */
  pause(): void {
    this.#upstream = PAUSED;
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    this.#upstream = IDLE;
    if (chunk !== null) this.put(chunk);
    if (last) this.tail?.();
    this.#ended = last;
    if (chunk === null && !last && this.#queue.length === 0 && this.#wanted) {
      this.#wanted = false;
      this.#next.send(r, null, false);
      return;
    }
    this.flow();
  }

  /** Either the next stage wants a piece, or a stage before this one passed nothing on and wants the source to go on. */
  pull(): void {
    if (this.#upstream === ASKED) this.#upstream = IDLE;
    this.#wanted = true;
    this.flow();
  }

  /** Passes on what there is. */
  flow(): void {
    if (this.#flowing) return;
    this.#flowing = true;
    while (this.#wanted && !this.#r.finished && this.#step());
    this.#flowing = false;
  }

  /** Returns false when there is nothing to do until something comes. */
  #step(): boolean {
    const r = this.#r;
    const head = this.#queue[0];
    if (head === undefined) {
      if (this.#ended) return this.#pass(null, true);
      if (this.#upstream !== IDLE || r.source === null) return false;
      this.#upstream = ASKED;
      r.source.pull(r);
      return true;
    }
    if (!(head instanceof Slot)) {
      this.#queue.shift();
      return this.#pass(head, this.#ended && this.#queue.length === 0);
    }
    const chunk = head.take();
    if (chunk !== null) return this.#pass(chunk, false);
    if (head.over) {
      this.#queue.shift();
      return true;
    }
    return head.goOn();
  }

  #pass(chunk: Chunk | null, last: boolean): boolean {
    this.#wanted = false;
    this.#next.send(this.#r, chunk, last);
    return true;
  }

  abort(r: Request): void {
    this.#next.abort?.(r);
  }
}

/** The place of a subrequest's body in that of its parent; the end of the subrequest's own chain. */
export class Slot implements BodyStage {
  readonly #owner: PostponeStage;
  #request: Request | null = null;
  readonly #chunks: Chunk[] = [];
  /** The subrequest's last piece has come. */
  #last = false;
  /** The subrequest waits for its piece to be taken. */
  #waits = false;
  /** The subrequest is over. */
  over = false;
  /** No piece has come. */
  empty = true;

  constructor(owner: PostponeStage) {
    this.#owner = owner;
  }

  /** Adds a piece that is not the subrequest's own, such as a stub for a missing one. */
  put(chunk: Chunk): void {
    if (chunk.length > 0) this.#chunks.push(chunk);
  }

  send(sr: Request, chunk: Chunk | null, last: boolean): void {
    this.#request = sr;
    if (last) sr.source = null;
    if (chunk !== null && chunk.length > 0) {
      this.empty = false;
      this.#chunks.push(chunk);
    } else if (!last) {
      sr.more();
      return;
    }
    this.#last = last;
    this.#waits = true;
    this.#owner.flow();
  }

  /** The subrequest is over, with or without a last piece. */
  end(): void {
    this.over = true;
    this.#owner.flow();
  }

  take(): Chunk | null {
    return this.#chunks.shift() ?? null;
  }

  /** Lets the subrequest go on when it waits. Returns false when it does not. */
  goOn(): boolean {
    const sr = this.#request;
    if (!this.#waits || sr === null) return false;
    this.#waits = false;
    if (this.#last) finalize(sr, OK);
    else sr.more();
    return true;
  }
}

/** What joins the bodies of a request and its subrequests; null where nothing asked for it. Nothing else is ever put there. */
export const jointOf = (r: Request): PostponeStage | null => r.joint as PostponeStage | null;
