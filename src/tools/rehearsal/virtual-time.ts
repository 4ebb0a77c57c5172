const RealDate = Date;
const realNow = performance.now.bind(performance);
const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setImmediate: globalThis.setImmediate,
  clearImmediate: globalThis.clearImmediate,
};

/** A timer that fires when virtual time gets there. It has the methods of Node's that the engine uses. */
class VirtualTimer {
  at = 0;
  active = false;
  readonly #time: VirtualTime;
  readonly #then: () => void;
  readonly #ms: number;

  constructor(time: VirtualTime, then: () => void, ms: number) {
    this.#time = time;
    this.#then = then;
    this.#ms = Number.isFinite(ms) && ms > 1 ? ms : 1;
    this.refresh();
  }

  refresh(): this {
    this.at = this.#time.elapsed + this.#ms;
    if (!this.active) {
      this.active = true;
      this.#time.add(this);
    }
    return this;
  }

  fire(): void {
    this.active = false;
    this.#then();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

/**
 * The clock and the timers of a process in which requests are rehearsed. Time stands still while code runs and goes on in leaps, from one
 * timer to the next: a delay of a minute takes no time, and the same request gives the same log line each time. It holds between
 * {@link enter} and {@link leave}; outside, the process has its real clock.
 */
export class VirtualTime {
  /** Virtual milliseconds since the beginning. */
  elapsed = 0;
  #wall = RealDate.now();
  readonly #origin = realNow();
  #timers: VirtualTimer[] = [];
  readonly #immediates = new Set<NodeJS.Immediate>();
  #set = false;
  #entered = 0;

  /** Sets the wall clock, milliseconds since 1970. When it goes on, so does the monotonic clock. */
  setWall(ms: number): void {
    const ahead = ms - (this.#wall + this.elapsed);
    if (ahead > 0 && this.#set) {
      this.elapsed += ahead;
    } else {
      this.#wall = ms - this.elapsed;
    }
    this.#set = true;
  }

  /** Puts virtual time in the place of the process's own. */
  enter(): void {
    if (this.#entered++ > 0) {
      return;
    }
    const now = (): number => Math.floor(this.#wall + this.elapsed);
    globalThis.Date = new Proxy(RealDate, {
      construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made) as object,
      get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
    });
    performance.now = () => this.#origin + this.elapsed;
    globalThis.setTimeout = ((then: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      new VirtualTimer(this, () => then(...args), ms)) as unknown as typeof setTimeout;
    globalThis.clearTimeout = ((timer: unknown) => {
      if (timer instanceof VirtualTimer) {
        this.#remove(timer);
      } else {
        real.clearTimeout(timer as NodeJS.Timeout);
      }
    }) as typeof clearTimeout;
    globalThis.setImmediate = ((then: (...args: unknown[]) => void, ...args: unknown[]) => {
      const immediate = real.setImmediate(() => {
        this.#immediates.delete(immediate);
        then(...args);
      });
      this.#immediates.add(immediate);
      return immediate;
    }) as unknown as typeof setImmediate;
    globalThis.clearImmediate = (immediate) => {
      this.#immediates.delete(immediate as NodeJS.Immediate);
      real.clearImmediate(immediate as NodeJS.Immediate);
    };
  }

  /** Code waits for the next turn of the event loop. */
  get goesOn(): boolean {
    return this.#immediates.size > 0;
  }

  /** Gives the process its own time back. */
  leave(): void {
    if (--this.#entered > 0) {
      return;
    }
    globalThis.Date = RealDate;
    performance.now = realNow;
    globalThis.setTimeout = real.setTimeout;
    globalThis.clearTimeout = real.clearTimeout;
    globalThis.setImmediate = real.setImmediate;
    globalThis.clearImmediate = real.clearImmediate;
  }

  add(timer: VirtualTimer): void {
    this.#timers.push(timer);
  }

  #remove(timer: VirtualTimer): void {
    timer.active = false;
    const i = this.#timers.indexOf(timer);
    if (i !== -1) {
      this.#timers.splice(i, 1);
    }
  }

  /** Leaps to the next timer and fires it. Returns false when there is none within `limit` milliseconds from now. */
  leap(limit: number): boolean {
    let next: VirtualTimer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.at < next.at) {
        next = timer;
      }
    }
    if (next === undefined || next.at - this.elapsed > limit) {
      return false;
    }
    this.elapsed = Math.max(this.elapsed, next.at);
    this.#remove(next);
    next.fire();
    return true;
  }

  /** Forgets all timers. */
  clear(): void {
    for (const timer of this.#timers) {
      timer.active = false;
    }
    this.#timers = [];
  }
}

/** Real milliseconds, whatever the time pretends to be. */
export const realMilliseconds = (): number => realNow();

/** Waits for the event loop to come round, and for `ms` real milliseconds if any are given. */
export const nextTurn = (ms = 0): Promise<void> =>
  new Promise((done) => void (ms === 0 ? real.setImmediate(done) : real.setTimeout(done, ms)));
