// Over 400 lines: one object has the ring of a process, and what sockets, files and listeners ask of it meets in one turn.

import { emptyList } from '../../collection/empty-list.js';
import { loadEventLoop } from '../../native/event-loop.js';
import type { Native } from '../../native/native.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../time/end-of-tick.js';
import { SEGMENT } from '../segment.js';
import { watch } from './bell.js';
import { LongWork } from './long-work.js';
import { RingError } from './memory.js';
import { ReceiveBuffers } from './receive-buffers.js';
import { Ring } from './ring.js';
import { SendSlots } from './send-slots.js';
import { type WaitedRing, waitIn } from './turns.js';

/** What an operation was for: the upper byte of its tag. The lower ones are its endpoint's number; 0 is nobody's. */
export const Kind = {
  ACCEPT: 1,
  CONNECT: 2,
  RECEIVE: 3,
  RECEIVE_LARGE: 4,
  SEND: 5,
  CLOSE: 6,
  ROOM: 7,
  DATAGRAM: 8,
  FILE: 9,
  LOOP: 10,
  ARRIVAL: 11,
} as const;
const KIND_SHIFT = 24;
const INDEX_MASK = 0xffffff;
/** The tags of what sends. */
const [FIRST_SEND, LAST_SEND] = [Kind.SEND << KIND_SHIFT, (Kind.SEND << KIND_SHIFT) | INDEX_MASK];
/** The event loop's own operation, which is no endpoint's. */
const LOOP_TAG = Kind.LOOP << KIND_SHIFT;

/** For heads and small messages, for bodies, and for datagrams with what the kernel says of each. */
const SMALL = { group: 0, count: 512, size: 4 * 1024 };
const LARGE = { group: 1, count: 16, size: SEGMENT };
const DATAGRAMS = { group: 2, count: 64, size: 66 * 1024 };

/** More than a head; and as much as a connection that nobody reads may bring in before that is noticed. */
const RECEIVE_MOST = 16 * 1024;

/** Set in builds for tests by `SLUICE_RECEIVE_ONCE=1 npm run build`: any kernel is taken for one that knows no such bound. */
declare const RECEIVES_ONCE: boolean | undefined;

/** How often completions are taken before the event loop sees to the rest. */
const ROUNDS = 4;

/** What has operations under way. */
export interface RingEndpoint {
  /** One of its operations is complete; `more`: others of the same will follow. */
  completed(kind: number, result: number, flags: number): void;
  /** The entries are about to be submitted, and the endpoint had asked for this call. Returns whether its owner may have work now. */
  submit(): boolean;
}

/** What sends at once: see {@link UringEngine.sentAtOnce}. */
export interface Sender extends RingEndpoint {
  /** Not all was taken: a completion will say so. */
  notTaken(): void;
  /** The kernel took all, unless {@link notTaken} was called. */
  taken(): void;
}

/** One process's ring, and who has operations in it. */
export class UringEngine implements TickTask, WaitedRing {
  readonly native: Native;
  readonly ring: Ring;
  readonly slots: SendSlots;
  readonly small: ReceiveBuffers;
  readonly large: ReceiveBuffers;
  readonly datagrams: ReceiveBuffers;
  readonly longWork = new LongWork();
  /** How many bytes one operation may receive, at most; 0 where the kernel knows no such bound: then each receives once. */
  receiveMost = typeof RECEIVES_ONCE === 'boolean' && RECEIVES_ONCE ? 0 : RECEIVE_MOST;
  readonly #endpoints: (RingEndpoint | null)[] = [null];
  /** How many endpoints had each number before, so that a completion which comes late finds nobody. */
  readonly #generations: number[] = [0];
  readonly #free: number[] = [];
  #asking: RingEndpoint[] = [];
  #spare: RingEndpoint[] = [];
  #next: RingEndpoint[] = [];
  readonly #senders: Sender[] = [];
  #asked = false;
  #running = false;
  /** The event loop waits in this ring, which is served in each of its iterations. */
  #waitedIn = false;
  #readable: (() => void) | undefined = undefined;
  #report: ((why: string) => void) | undefined = undefined;
  /** How often the event loop had the ring served. */
  ticks = 0;
  /** The last tick of these whose immediates have had their turn. */
  settledTick = 0;
  /** How many submissions have had all their completions served that came at once. */
  exchanges = 0;
  /** Closed connections that have something left to send, and who waits for them. */
  #leaving = 0;
  readonly #waiting: (() => void)[] = [];

  /** Throws an Error that says why there is no ring. */
  constructor(native: Native, ring = new Ring(native)) {
    this.native = native;
    this.ring = ring;
    this.slots = new SendSlots(native);
    try {
      this.small = new ReceiveBuffers(native, ring, SMALL.group, SMALL.count, SMALL.size);
      this.large = new ReceiveBuffers(native, ring, LARGE.group, LARGE.count, LARGE.size);
      this.datagrams = new ReceiveBuffers(native, ring, DATAGRAMS.group, DATAGRAMS.count, DATAGRAMS.size);
    } catch (error) {
      ring.dispose();
      throw error;
    }
  }

  /**
   * Begins to serve in the event loop, which waits in the ring where Node lets it; `report` is told why not. Throws an Error where this
   * Node does not serve a ring at all.
   */
  start(report?: (why: string) => void): void {
    this.#report = report;
    const loop = loadEventLoop();
    if (typeof loop === 'string') {
      this.left(loop);
      return;
    }
    this.#waitedIn = true;
    waitIn(this, loop);
  }

  left(why?: string): void {
    if (why !== undefined) {
      this.#report?.(why);
    }
    this.#useSignals();
  }

  watch(fd: number, readable: () => void): void {
    this.#readable = readable;
    this.ring.awaitReadable(fd, LOOP_TAG, 0);
  }

  /** Has one of libuv's handles say when something is complete: that costs each wake-up two system calls more. */
  #useSignals(): void {
    this.#waitedIn = false;
    const fd = this.native.eventDescriptor();
    if (fd < 0) {
      throw Object.assign(new Error('eventfd() failed'), { errno: fd });
    }
    watch(fd, () => this.run());
    this.ring.signal(fd);
    this.wake();
  }

  /** A number for something that has operations. */
  add(endpoint: RingEndpoint): number {
    const index = this.#free.pop() ?? this.#endpoints.length;
    if (index > INDEX_MASK) {
      throw new Error('too many endpoints');
    }
    this.#endpoints[index] = endpoint;
    this.#generations[index] = ((this.#generations[index] ?? 0) + 1) | 0;
    return index;
  }

  /** Nothing of the endpoint is under way, nor will be. */
  remove(index: number): void {
    this.#endpoints[index] = null;
    this.#free.push(index);
  }

  /** How many have operations. */
  get endpoints(): number {
    return this.#endpoints.length - 1 - this.#free.length;
  }

  tag(kind: number, index: number): number {
    return (kind << KIND_SHIFT) | index;
  }

  generation(index: number): number {
    return this.#generations[index]!;
  }

  /** Has `submit` called before entries leave, which is in this tick; once for each time it is asked for. */
  ask(endpoint: RingEndpoint): void {
    this.#asking.push(endpoint);
    this.wake();
  }

  /** Has an endpoint called the next time that the ring is served, before anything else. */
  askNext(endpoint: RingEndpoint): void {
    this.#next.push(endpoint);
    this.wake();
  }

  /** The endpoint has an entry that completes only if the kernel does not take all: it is told what became of that. */
  sentAtOnce(sender: Sender): void {
    this.#senders.push(sender);
  }

  /** Entries are to leave in this tick. */
  wake(): void {
    if (this.#asked || this.#running || this.#waitedIn) {
      return;
    }
    this.#asked = true;
    endOfTick.ask(AtTickEnd.SUBMITS, this);
  }

  tickEnded(): void {
    this.#asked = false;
    if (this.#asking.length > 0 || this.#next.length > 0 || this.ring.pending || this.ring.more) {
      this.run();
    }
  }

  /** The kernel has something to bring. */
  get busy(): boolean {
    return this.ring.more;
  }

  /** Somebody has something to submit in the next tick. */
  get waitsForTick(): boolean {
    return this.#next.length > 0;
  }

  /**
   * Submits what waits, and serves what is complete, once; waits for that if `most` is not 0: so many milliseconds, or without an end (-1).
   * It does not wait when somebody who is asked what to submit may have brought about work. Throws {@link RingError} when the ring is
   * broken.
   */
  serve(most: number): void {
    this.#running = true;
    try {
      this.#exchange(most);
    } finally {
      this.#running = false;
    }
  }

  /** The event loop has the ring served, from now on. */
  beginTick(): void {
    // A loop that waits in the ring serves it behind the immediates of the tick before.
    this.settledTick = this.#waitedIn ? this.ticks : this.settledTick;
    this.ticks++;
    if (this.#next.length > 0) {
      this.#asking.push(...this.#next.splice(0));
    }
  }

  /**
   * Submits what waits, and serves what is complete, until the kernel has no more, or it is the event loop's turn. Throws
   * {@link RingError} when the ring is broken. libuv calls it, and the end of a tick: immediates of one call may come behind the next call.
   */
  run(): void {
    if (this.#running) {
      return;
    }
    this.#running = true;
    let more = true;
    const { ring } = this;
    try {
      ring.quiet(true);
      this.beginTick();
      for (let round = 0; round < ROUNDS && more; round++) {
        this.#exchange(0);
        more = this.#asking.length > 0 || ring.pending || ring.more;
      }
      if (!more) {
        ring.quiet(false);
        more = ring.more;
      }
    } finally {
      this.#running = false;
      setImmediate(settle, this, this.ticks);
      // What came meanwhile, and what an error of somebody's has kept from being served.
      if (more) {
        ring.quiet(false);
      }
      if (more || this.#next.length > 0) {
        this.wake();
      }
    }
  }

  #exchange(most: number): void {
    const worked = this.#asking.length > 0 && this.#submit();
    const { ring } = this;
    if (most === 0 || worked) {
      ring.enter();
    } else {
      this.longWork.ends();
      ring.enterAndWait(most);
      this.longWork.begins();
    }
    try {
      if (this.#senders.length > 0 && ring.settled) {
        this.#settle();
      }
      while (ring.next()) {
        this.#complete();
      }
    } finally {
      this.exchanges++;
      ring.taken();
      this.small.publish();
      this.large.publish();
      this.datagrams.publish();
    }
  }

  /** Tells who sent at once, before what came after that is served. */
  #settle(): void {
    this.ring.lookAhead(FIRST_SEND, LAST_SEND, this.#see);
    const senders = this.#senders;
    while (senders.length > 0) {
      senders.pop()!.taken();
    }
  }

  /** Tells the sender whose send has completed with a note that the kernel did not take all bytes at once. */
  readonly #see = (tag: number): void => {
    (this.#endpoints[tag & INDEX_MASK] as Sender | null)?.notTaken();
  };

  /** Returns whether somebody's owner may have work now. */
  #submit(): boolean {
    const asking = this.#asking;
    this.#asking = this.#spare;
    let next = 0;
    let worked = false;
    try {
      while (next < asking.length) {
        worked = asking[next++]!.submit() || worked;
      }
    } finally {
      // Those whom an error of somebody's has kept from their turn, and who will not ask again.
      while (next < asking.length) {
        this.#asking.push(asking[next++]!);
      }
      emptyList(asking);
      this.#spare = asking;
    }
    return worked || this.#asking.length > 0;
  }

  #complete(): void {
    const { tag, generation, result, flags } = this.ring;
    if (tag === 0) {
      return;
    }
    const index = tag & INDEX_MASK;
    const endpoint = this.#endpoints[index];
    if (endpoint === undefined || endpoint === null || this.#generations[index] !== generation) {
      if (tag === LOOP_TAG) {
        this.#readable?.();
        return;
      }
      // An endpoint is removed after its last completion, so memory may have been used by two.
      throw new RingError(`a completion (${tag}, ${result}) of nobody`);
    }
    endpoint.completed(tag >>> KIND_SHIFT, result, flags);
  }

  /** A closed connection has something left to send, or has it no more. */
  leaving(change: 1 | -1): void {
    this.#leaving += change;
    if (this.#leaving === 0 && this.#waiting.length > 0) {
      setImmediate(this.#sent);
    }
  }

  readonly #sent = (): void => {
    if (this.#leaving > 0) {
      return;
    }
    for (const done of this.#waiting.splice(0)) {
      done();
    }
  };

  /** Calls back once everything of closed connections has left, which may be at once. */
  whenSent(done: () => void): void {
    this.flush();
    if (this.#leaving === 0) {
      done();
    } else {
      this.#waiting.push(done);
    }
  }

  /** Submits what waits, as the process is about to end. */
  flush(): void {
    if (!this.#running) {
      this.run();
    }
  }
}

function settle(engine: UringEngine, tick: number): void {
  engine.settledTick = tick;
}
