import { AtTickEnd, endOfTick, type TickTask } from '../../../shared/time/end-of-tick.js';
import { enter, leave } from '../../task/at-work.js';
import { OK } from '../../task/codes.js';
import type { BodyStage, Chunk } from '../request/body-stage.js';
import type { Request } from '../request/request.js';

/** Pieces are put together until they have so many bytes. */
const GATHERED = 16 * 1024;

/** The source may be asked for the next piece. */
const IDLE = 0;
/** The source was asked; its piece is on its way through the stages before this one. */
const ASKED = 1;
/** A stage before this one holds a piece back and will send it later. */
const PAUSED = 2;

/**
 * Joins the body of a request and those of its subrequests in the order in which they were begun. It stands after the
 * filters that start subrequests and before those that see the joined body. What it holds comes before what the source
 * still has, so {@link Request.more} asks it first. Small pieces go on together, at the end of the tick at the latest, since
 * each that leaves alone costs a chunk and a call of the system. nginx: ngx_http_postpone_filter.
 */
export class PostponeStage implements BodyStage, TickTask {
  readonly #r: Request;
  readonly #next: BodyStage;
  readonly #queue: (Chunk | Slot)[] = [];
  /** Bytes of the request's own body in the queue. */
  #queued = 0;
  /** Pieces that go on next. */
  #gathered: Chunk[] = [];
  #size = 0;
  #passesLater = false;
  #upstream = IDLE;
  /** The next stage takes another piece. */
  #wanted = false;
  #ended = false;
  #flowing = false;
  /**
   * Fewer bytes than these do not leave before what follows the request's own body: if that fails, the client has seen nothing yet. nginx:
   * postpone_output.
   */
  holdBack = 0;
  /** What adds something behind the request's own body, in turn; each is given who goes on behind it. */
  readonly #tails: ((then: () => void) => void)[] = [];

  constructor(r: Request, next: BodyStage) {
    this.#r = r;
    this.#next = next;
  }

  /**
   * Has `tail` add something once the request's own body has come to its end, before what was to be added until now, for which it calls
   * `then`.
   */
  addTail(tail: (then: () => void) => void): void {
    this.#tails.push(tail);
  }

  #addTails(): void {
    this.#tails.pop()?.(() => this.#addTails());
  }

  /** Adds a piece of the request's own body, for a stage that makes several out of one. */
  put(chunk: Chunk): void {
    if (chunk.length > 0) {
      this.#queue.push(chunk);
      this.#queued += chunk.length;
    }
  }

  /** Bytes of the request's own body that wait, for a stage that makes more of a piece than should. */
  get queued(): number {
    return this.#queued;
  }

  /** Makes a place for a subrequest's body; it stands where {@link keep} puts it. */
  slot(): Slot {
    return new Slot(this);
  }

  /** Puts the place of a subrequest, which has been started, behind what has come so far. */
  keep(slot: Slot, sr: Request): void {
    slot.request = sr;
    this.#queue.push(slot);
  }

  /** The subrequest that holds all others back, by not having begun: undefined when what they wait for is under way. */
  awaited(): Request | undefined {
    for (let i = 0; i < this.#queue.length; i++) {
      const item = this.#queue[i]!;
      if (!(item instanceof Slot) || item.over) {
        continue;
      }
      const sr = item.request!;
      return sr.child!.queued ? sr : sr.postponed?.awaited();
    }
    return undefined;
  }

  /** Says that the piece which the source gave is held back, until the next {@link send}. */
  pause(): void {
    this.#upstream = PAUSED;
  }

  send(_r: Request, chunk: Chunk | null, last: boolean): void {
    this.#upstream = IDLE;
    if (chunk !== null) {
      this.put(chunk);
    }
    if (last) {
      this.#addTails();
    }
    this.#ended = last;
    if (chunk === null && !last && this.#queue.length === 0 && this.#wanted) {
      this.#pass(false);
      return;
    }
    this.flow();
  }

  /** Either the next stage wants a piece, or a stage before this one passed nothing on and wants the source to go on. */
  pull(): void {
    if (this.#upstream === ASKED) {
      this.#upstream = IDLE;
    }
    this.#wanted = true;
    this.flow();
  }

  /** Passes on what there is. */
  flow(): void {
    if (this.#flowing) {
      return;
    }
    this.#flowing = true;
    while (this.#wanted && !this.#r.finished && this.#step()) {}
    this.#flowing = false;
    if (this.#size === 0 || !this.#wanted || this.#r.finished || this.#holds) {
      return;
    }
    // A subrequest's own output is gathered by its parent.
    if (this.#r !== this.#r.main || this.#r.flushBody) {
      this.#pass(false);
    } else if (!this.#passesLater) {
      this.#passesLater = true;
      endOfTick.ask(AtTickEnd.JOINED, this);
    }
  }

  /** Passes on what was gathered in this tick. */
  tickEnded(): void {
    this.#passesLater = false;
    const r = this.#r;
    if (this.#size === 0 || !this.#wanted || r.finished || this.#holds) {
      return;
    }
    const before = enter(r);
    this.#pass(false);
    leave(before);
  }

  get #holds(): boolean {
    return this.#ended && this.#size < this.holdBack && this.#queue.length > 0 && !this.#r.flushBody;
  }

  /** Returns false when there is nothing to do until something comes. */
  #step(): boolean {
    const r = this.#r;
    const head = this.#queue[0];
    if (head === undefined) {
      if (this.#ended) {
        return this.#pass(true);
      }
      // The source is asked for a piece only when all before it has gone: otherwise {@link pull} could not tell who calls.
      if (this.#size > 0 || this.#upstream !== IDLE || r.source === null) {
        return false;
      }
      this.#upstream = ASKED;
      r.source.pull(r);
      return true;
    }
    if (!(head instanceof Slot)) {
      this.#queue.shift();
      this.#queued -= head.length;
      return this.#gather(head);
    }
    const chunk = head.take();
    if (chunk !== null) {
      return this.#gather(chunk);
    }
    if (head.over) {
      this.#queue.shift();
      return true;
    }
    return head.goOn();
  }

  #gather(chunk: Chunk): boolean {
    this.#gathered.push(chunk);
    this.#size += chunk.length;
    return this.#size < GATHERED || this.#pass(this.#ended && this.#queue.length === 0);
  }

  #pass(last: boolean): boolean {
    const gathered = this.#gathered;
    const chunk = gathered.length > 1 ? Buffer.concat(gathered, this.#size) : (gathered[0] ?? null);
    this.#gathered = [];
    this.#size = 0;
    this.#wanted = false;
    this.holdBack = 0;
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
  request: Request | null = null;
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
    if (chunk.length > 0) {
      this.#chunks.push(chunk);
    }
  }

  send(sr: Request, chunk: Chunk | null, last: boolean): void {
    if (last) {
      sr.source = null;
    }
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
    const sr = this.request;
    if (!this.#waits || sr === null) {
      return false;
    }
    this.#waits = false;
    if (this.#last) {
      sr.finalize(OK);
    } else {
      sr.more();
    }
    return true;
  }
}

/** What joins the bodies of a request and its subrequests; null where nothing asked for it. Nothing else is ever put there. */
export const postponeOf = (r: Request): PostponeStage | null => r.postponed as PostponeStage | null;
