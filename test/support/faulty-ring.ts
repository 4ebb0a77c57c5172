import { loadNative, type Native } from '../../src/shared/native/native.js';
import { UringEngine } from '../../src/shared/net/uring/engine.js';
import { Ring } from '../../src/shared/net/uring/ring.js';

/** Numbers that are the same in each run with one seed. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 on, below that. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1103515245) + 12345) >>> 0;
    return Math.floor((this.#state / 0x100000000) * limit);
  }

  /** One of these. */
  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

const [EINTR, EIO, EAGAIN, EMFILE, EPIPE, ECONNABORTED, ECONNRESET, ENOBUFS, ECONNREFUSED, ECANCELED] = [
  -4, -5, -11, -24, -32, -103, -104, -105, -111, -125,
];

/** A ring that does some operations in part, and lets some fail without doing them. */
export class FaultyRing extends Ring {
  readonly #dice: Dice;
  readonly #made: { tag: number; generation: number; result: number }[] = [];
  /** One in so many operations meets a fault; 0 for none. */
  faults = 0;
  /** Errors also end connections, and are not only such as one tries again after. */
  fatal = false;
  /** How many faults there were of each kind. */
  readonly counts: Record<string, number> = {};

  constructor(native: Native, dice: Dice, entries?: number, completions?: number) {
    super(native, entries, completions);
    this.#dice = dice;
  }

  override accept(fd: number, many: boolean, tag: number, generation: number): void {
    if (this.#spared()) {
      super.accept(fd, many && this.#dice.below(3) > 0, tag, generation);
    } else {
      // The second one is tried again after half a second.
      this.#fail('accept', tag, generation, [...Array(30).fill(ECONNABORTED), ...Array(30).fill(EAGAIN), EMFILE]);
    }
  }

  override connect(fd: number, address: number, length: number, tag: number, generation: number): void {
    if (this.#spared() || !this.fatal) {
      super.connect(fd, address, length, tag, generation);
    } else {
      this.#fail('connect', tag, generation, [ECONNREFUSED, EINTR, EAGAIN]);
    }
  }

  override send(fd: number, address: number, length: number, tag: number, generation: number): void {
    if (this.#spared()) {
      super.send(fd, address, length, tag, generation);
    } else if (this.#dice.below(2) === 0 && length > 1) {
      this.#count('short send');
      super.send(fd, address, 1 + this.#dice.below(length - 1), tag, generation);
    } else {
      this.#fail('send', tag, generation, [EINTR, EAGAIN, ...this.#ends(EPIPE)]);
    }
  }

  override sendAtOnce(fd: number, address: number, length: number, tag: number, generation: number): void {
    if (this.#spared()) {
      super.sendAtOnce(fd, address, length, tag, generation);
    } else {
      this.#fail('send at once', tag, generation, [EINTR, EAGAIN, ...this.#ends(EPIPE)]);
    }
  }

  override receive(fd: number, group: number, most: number, tag: number, generation: number): void {
    if (this.#spared()) {
      super.receive(fd, group, this.#dice.below(3) === 0 ? 0 : most, tag, generation);
    } else {
      this.#fail('receive', tag, generation, [EINTR, EAGAIN, ENOBUFS, ENOBUFS, ...this.#ends(ECONNRESET)]);
    }
  }

  override receiveMessages(fd: number, group: number, header: number, tag: number, generation: number): void {
    if (this.#spared()) {
      super.receiveMessages(fd, group, header, tag, generation);
    } else {
      this.#fail('datagram', tag, generation, [EINTR, EAGAIN, ENOBUFS, ...this.#ends(ECONNREFUSED)]);
    }
  }

  override read(fd: number, address: number, length: number, offset: number, tag: number, generation: number): void {
    if (this.#spared()) {
      super.read(fd, address, length, offset, tag, generation);
    } else if (this.#dice.below(2) === 0 && length > 1) {
      this.#count('short read');
      super.read(fd, address, 1 + this.#dice.below(length - 1), offset, tag, generation);
    } else {
      this.#fail('read', tag, generation, [EINTR, EAGAIN, ...(this.fatal ? [EIO, ECANCELED] : [])]);
    }
  }

  #spared(): boolean {
    return this.faults === 0 || this.#dice.below(this.faults) !== 0;
  }

  /** Errors that end a connection are few. */
  #ends(error: number): number[] {
    return this.fatal && this.#dice.below(10) === 0 ? [error] : [];
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  #fail(what: string, tag: number, generation: number, errors: number[]): void {
    const result = this.#dice.of(errors);
    this.#count(`${what} ${result}`);
    this.#made.push({ tag, generation, result });
  }

  override get more(): boolean {
    return this.#made.length > 0 || super.more;
  }

  override enterAndWait(most: number): void {
    if (this.#made.length > 0) {
      this.enter();
    } else {
      super.enterAndWait(most);
    }
  }

  override lookAhead(first: number, last: number, see: (tag: number) => void): void {
    for (const { tag } of this.#made.filter((made) => made.tag >= first && made.tag <= last)) {
      see(tag);
    }
    super.lookAhead(first, last, see);
  }

  override next(): boolean {
    if (this.#made.length > 0 && this.#dice.below(2) === 0) {
      const { tag, generation, result } = this.#made.splice(this.#dice.below(this.#made.length), 1)[0]!;
      Object.assign(this, { tag, generation, result, flags: 0 });
      return true;
    }
    return super.next();
  }
}

/** An engine on a faulty ring, which serves already; with room for so many entries and completions. */
export function faultyEngine(dice: Dice, entries?: number, completions?: number): { ring: FaultyRing; engine: UringEngine } {
  const native = loadNative() as Native;
  const ring = new FaultyRing(native, dice, entries, completions);
  const engine = new UringEngine(native, ring);
  engine.start();
  return { ring, engine };
}
