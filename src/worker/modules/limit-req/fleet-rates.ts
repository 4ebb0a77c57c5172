import { throwLater } from '../../../shared/system/throw-later.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../../shared/time/end-of-tick.js';
import { NOBODY, type SharedStore, type StoreClient } from '../../fleet/shared-store.js';
import { isWholeNumber } from '../../fleet/whole-number.js';
import { GIVE_BACK_SCRIPT, RATE_SCRIPT } from './rate-script.js';

/** Questions of one tick are put together; more than so many at once wait for the next answer, so that a busy worker asks rarely. */
const MAX_CALLS = 4;
/** How many decisions one call makes at most, which the store does in a millisecond or so. */
const MAX_DECISIONS = 256;

/** One bucket that a request goes into. */
export interface Share {
  /** The bucket's key in the store. */
  readonly key: string;
  readonly rate: number;
  readonly burst: number;
}

/** A request that waits for the store's decision. */
export interface Asker {
  readonly shares: readonly Share[];
  /** All buckets took the request; `levels` has what they hold, from a place on. */
  admitted(levels: readonly number[], from: number): void;
  /** A bucket, by its number, is full. No other has taken the request. */
  refused(share: number, level: number): void;
  /** The store is lost. */
  undecided(): void;
}

/** A request on which is decided. */
export interface Decided {
  conclude(): void;
}

/** Has the store decide on the requests of a worker. */
export class FleetRates implements TickTask {
  readonly store: SharedStore;
  readonly #cluster: boolean;
  #waiting: Asker[] = [];
  #decided: Decided[] = [];
  #calls = 0;
  #asked = false;

  constructor(store: SharedStore) {
    this.store = store;
    this.#cluster = store.settings.cluster;
  }

  /** Asks with the end of the tick. */
  ask(asker: Asker): void {
    this.#waiting.push(asker);
    this.#schedule();
  }

  /** Goes on with a request at the end of the tick. */
  goOn(decided: Decided): void {
    this.#decided.push(decided);
    this.#schedule();
  }

  tickEnded(): void {
    this.#asked = false;
    const decided = this.#decided;
    if (decided.length > 0) {
      this.#decided = [];
      for (let i = 0; i < decided.length; i++) {
        decided[i]!.conclude();
      }
    }
    this.#send();
  }

  /** A call has its answer. */
  called(): void {
    this.#calls--;
    if (this.#waiting.length > 0) {
      this.#schedule();
    }
  }

  #schedule(): void {
    if (!this.#asked) {
      this.#asked = true;
      endOfTick.ask(AtTickEnd.ZONES, this);
    }
  }

  #send(): void {
    while (this.#waiting.length > 0 && (this.#calls < MAX_CALLS || !this.store.up)) {
      const askers = this.#waiting.length <= MAX_DECISIONS ? this.#waiting : this.#waiting.splice(0, MAX_DECISIONS);
      if (askers === this.#waiting) {
        this.#waiting = [];
      }
      if (this.#cluster) {
        this.#sendApart(askers);
      } else {
        this.#calls++;
        new Batch(this, askers).send();
      }
    }
  }

  /** In a cluster each bucket may be at another place: a call for each. */
  #sendApart(askers: readonly Asker[]): void {
    const byKey = new Map<string, PartBatch>();
    for (const asker of askers) {
      const whole = new Whole(asker, this.store);
      for (let i = 0; i < asker.shares.length; i++) {
        const { key } = asker.shares[i]!;
        let batch = byKey.get(key);
        if (batch === undefined) {
          byKey.set(key, (batch = new PartBatch(this, key)));
        }
        batch.add(whole, i);
      }
    }
    this.#calls += byKey.size;
    for (const batch of byKey.values()) {
      batch.send();
    }
  }
}

/** One call for several requests, with all their buckets. */
class Batch implements StoreClient {
  readonly #rates: FleetRates;
  readonly #askers: readonly Asker[];

  constructor(rates: FleetRates, askers: readonly Asker[]) {
    this.#rates = rates;
    this.#askers = askers;
  }

  send(): void {
    const keys: string[] = [];
    const places = new Map<string, number>();
    const args: number[] = [];
    for (let i = 0; i < this.#askers.length; i++) {
      const { shares } = this.#askers[i]!;
      args.push(shares.length);
      for (let j = 0; j < shares.length; j++) {
        const { key, rate, burst } = shares[j]!;
        let place = places.get(key);
        if (place === undefined) {
          place = keys.push(key);
          places.set(key, place);
        }
        args.push(place, rate, burst);
      }
    }
    this.#rates.store.run(RATE_SCRIPT, keys, args, this);
  }

  understands(reply: unknown): boolean {
    if (!Array.isArray(reply)) {
      return false;
    }
    let at = 0;
    for (let i = 0; i < this.#askers.length; i++) {
      const { shares } = this.#askers[i]!;
      const refusing: unknown = reply[at++];
      if (refusing !== 0) {
        if (!isWholeNumber(refusing, 1, shares.length) || !isWholeNumber(reply[at++], shares[refusing - 1]!.burst + 1, MAX_LEVEL)) {
          return false;
        }
        continue;
      }
      for (let j = 0; j < shares.length; j++) {
        if (!isWholeNumber(reply[at++], 0, shares[j]!.burst)) {
          return false;
        }
      }
    }
    return at === reply.length;
  }

  replied(reply: unknown): void {
    this.#rates.called();
    const numbers = reply as readonly number[];
    let at = 0;
    for (let i = 0; i < this.#askers.length; i++) {
      const asker = this.#askers[i]!;
      const refusing = numbers[at]!;
      const from = at + 1;
      at = from + (refusing > 0 ? 1 : asker.shares.length);
      try {
        if (refusing > 0) {
          asker.refused(refusing - 1, numbers[from]!);
        } else {
          asker.admitted(numbers, from);
        }
      } catch (error) {
        // One request's error must not keep the others from going on.
        throwLater(error);
      }
    }
  }

  lost(): void {
    this.#rates.called();
    for (let i = 0; i < this.#askers.length; i++) {
      this.#askers[i]!.undecided();
    }
  }
}

/** One call for several requests and one bucket. */
class PartBatch implements StoreClient {
  readonly #rates: FleetRates;
  readonly #key: string;
  readonly #parts: (readonly [whole: Whole, share: number])[] = [];

  constructor(rates: FleetRates, key: string) {
    this.#rates = rates;
    this.#key = key;
  }

  add(whole: Whole, share: number): void {
    this.#parts.push([whole, share]);
  }

  send(): void {
    const args: number[] = [];
    for (const [{ asker }, share] of this.#parts) {
      const { rate, burst } = asker.shares[share]!;
      args.push(1, 1, rate, burst);
    }
    this.#rates.store.run(RATE_SCRIPT, [this.#key], args, this);
  }

  understands(reply: unknown): boolean {
    return (
      Array.isArray(reply) &&
      reply.length === 2 * this.#parts.length &&
      this.#parts.every(([{ asker }, share], i) => {
        const { burst } = asker.shares[share]!;
        const level: unknown = reply[2 * i + 1];
        return reply[2 * i] === 0 ? isWholeNumber(level, 0, burst) : reply[2 * i] === 1 && isWholeNumber(level, burst + 1, MAX_LEVEL);
      })
    );
  }

  replied(reply: unknown): void {
    this.#rates.called();
    const numbers = reply as readonly number[];
    for (const [i, [whole, share]] of this.#parts.entries()) {
      whole.part(share, numbers[2 * i]! === 0, numbers[2 * i + 1]!);
    }
  }

  lost(): void {
    this.#rates.called();
    for (const [whole] of this.#parts) {
      whole.partLost();
    }
  }
}

/** A request whose buckets are asked one by one: when one refuses it, the others give it back. */
class Whole {
  readonly asker: Asker;
  readonly #store: SharedStore;
  readonly #levels: number[] = [];
  readonly #took: string[] = [];
  #left: number;
  #refusing = -1;
  #lost = false;

  constructor(asker: Asker, store: SharedStore) {
    this.asker = asker;
    this.#store = store;
    this.#left = asker.shares.length;
  }

  part(share: number, taken: boolean, level: number): void {
    this.#levels[share] = level;
    if (taken) {
      this.#took.push(this.asker.shares[share]!.key);
    } else if (this.#refusing === -1 || share < this.#refusing) {
      this.#refusing = share;
    }
    this.#end();
  }

  partLost(): void {
    this.#lost = true;
    this.#end();
  }

  #end(): void {
    if (--this.#left > 0) {
      return;
    }
    const refusing = this.#refusing;
    if (refusing !== -1 || this.#lost) {
      for (const key of this.#took) {
        this.#store.run(GIVE_BACK_SCRIPT, [key], [], NOBODY);
      }
    }
    if (refusing !== -1) {
      this.asker.refused(refusing, this.#levels[refusing]!);
    } else if (this.#lost) {
      this.asker.undecided();
    } else {
      this.asker.admitted(this.#levels, 0);
    }
  }
}

/** The most that a bucket is said to hold; more is not counted exactly. */
const MAX_LEVEL = Number.MAX_SAFE_INTEGER;
