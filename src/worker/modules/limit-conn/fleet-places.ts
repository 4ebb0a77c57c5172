import { randomBytes } from 'node:crypto';
import { throwLater } from '../../../shared/system/throw-later.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../../shared/time/end-of-tick.js';
import { setTimer } from '../../../shared/time/timer.js';
import { NOBODY, type SharedStore, type StoreClient, type StoreWatcher } from '../../fleet/shared-store.js';
import { storeKey } from '../../fleet/store-key.js';
import { isWholeNumber } from '../../fleet/whole-number.js';
import { CONN_SCRIPT } from './conn-script.js';

/** So long (milliseconds) what a worker holds counts after it was last heard of. */
const LEASE_MS = 4000;
/** How often it says that it still holds it. */
const RENEW_MS = 1000;
/** A place that was left waits so long (milliseconds) for the next request of its client, which takes it without a question. */
const LEAVE_MS = 5;
/** Bounds of one call. */
const MAX_REQUESTS = 256;
const MAX_KEYS = 512;

/** A request that waits for places. */
export interface PlaceAsker {
  /** The request's places, each as the key's and the most that all may hold. */
  readonly places: readonly FleetPlace[];
  placed(): void;
  /** A place is not free, by its number; none was taken. */
  full(place: number): void;
  /** The store is lost, and no place was taken. */
  undecided(): void;
}

/** A place under one key. */
export interface FleetPlace {
  readonly held: Held;
  readonly max: number;
}

/** What this worker holds under one key. */
export class Held {
  readonly key: string;
  count = 0;
  /** What the store was told last. */
  told = 0;
  /** A call on its way has it. */
  asked = false;
  /** Requests that wait for an answer. */
  waiting = 0;

  constructor(key: string) {
    this.key = key;
  }
}

/**
 * The places that a worker holds among those of the fleet. The store is told what the worker holds, not what has changed: so a call that
 * is lost, or done twice, does no harm. One call is on its way at a time.
 */
export class FleetPlaces implements TickTask, StoreClient, StoreWatcher {
  readonly store: SharedStore;
  readonly #who: string;
  readonly #prefix: string;
  readonly #held = new Map<string, Held>();
  /** What the store has to be told of. */
  #touched = new Set<Held>();
  #waiting: PlaceAsker[] = [];
  #calling: { readonly keys: readonly Held[]; readonly askers: readonly PlaceAsker[] } | undefined = undefined;
  #asked = false;
  #timer: NodeJS.Timeout | undefined;
  #renewing: NodeJS.Timeout | undefined;

  /** `part` tells the places of one block from those of another. */
  constructor(store: SharedStore, part: string) {
    this.store = store;
    const { name, cluster } = store.settings;
    // One call is for several keys: in a cluster all are at one place.
    this.#prefix = cluster ? `sluice:{${name}}:c:` : `${store.prefix}c:`;
    // Machines that were copied may have one name, and their workers one number.
    this.#who = `${store.settings.node}:${process.pid}:${part}:${randomBytes(6).toString('hex')}`;
    store.watch(this);
    this.#renewing = setTimer(() => {
      this.#touchAll();
      this.#renewing?.refresh();
    }, RENEW_MS).unref();
  }

  /** What is held under a key of a zone. */
  held(zone: string, key: string): Held {
    const name = `${this.#prefix}${zone}:${storeKey(key)}`;
    let held = this.#held.get(name);
    if (held === undefined) {
      this.#held.set(name, (held = new Held(name)));
    }
    return held;
  }

  /** Whether the places are this worker's still though they were left. */
  areFree(places: readonly FleetPlace[]): boolean {
    for (let i = 0; i < places.length; i++) {
      const { held } = places[i]!;
      if (held.asked || held.count >= held.told) {
        return false;
      }
    }
    return true;
  }

  /** Takes places without a question: they are this worker's still, or the store is lost. */
  take(places: readonly FleetPlace[]): void {
    for (let i = 0; i < places.length; i++) {
      const { held } = places[i]!;
      held.count++;
      this.#touched.add(held);
    }
  }

  /** Asks for places with the end of the tick. */
  ask(asker: PlaceAsker): void {
    const { places } = asker;
    for (let i = 0; i < places.length; i++) {
      places[i]!.held.waiting++;
    }
    this.#waiting.push(asker);
    this.#schedule();
  }

  /** Gives places back. */
  leave(places: readonly FleetPlace[]): void {
    for (let i = 0; i < places.length; i++) {
      const { held } = places[i]!;
      held.count--;
      this.#touched.add(held);
      this.#forget(held);
    }
    this.#timer ??= setTimer(() => {
      this.#timer = undefined;
      this.#schedule();
    }, LEAVE_MS);
  }

  /** Gives everything back, and is heard of no more. */
  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#renewing);
    this.#renewing = undefined;
    // A call that is on its way stays: its answer comes, or the store is lost.
    const keys = [...this.#held.keys()];
    for (let i = 0; i < keys.length; i += MAX_KEYS) {
      const some = keys.slice(i, i + MAX_KEYS);
      this.store.run(CONN_SCRIPT, some, [this.#who, LEASE_MS, ...some.map(() => 0)], NOBODY);
    }
  }

  storeBack(): void {
    this.#touchAll();
  }

  tickEnded(): void {
    this.#asked = false;
    this.#send();
  }

  understands(reply: unknown): boolean {
    const { askers } = this.#calling!;
    const answers = reply as readonly unknown[];
    return (
      Array.isArray(reply) &&
      answers.length === askers.length &&
      askers.every(({ places }, i) => isWholeNumber(answers[i], 0, places.length))
    );
  }

  replied(reply: unknown): void {
    const { keys, askers } = this.#calling!;
    const answers = reply as readonly number[];
    // First what is held, since whoever goes on may end at once.
    for (let i = 0; i < askers.length; i++) {
      const taken = answers[i] === 0 ? 1 : 0;
      for (const { held } of askers[i]!.places) {
        held.waiting--;
        held.count += taken;
        held.told += taken;
      }
    }
    this.#end(keys);
    for (let i = 0; i < askers.length; i++) {
      const answer = answers[i]!;
      try {
        if (answer === 0) {
          askers[i]!.placed();
        } else {
          askers[i]!.full(answer - 1);
        }
      } catch (error) {
        throwLater(error);
      }
    }
  }

  lost(): void {
    const { keys, askers } = this.#calling!;
    // What the store has now nobody knows.
    for (const held of keys) {
      this.#touched.add(held);
    }
    this.#giveUp(askers, keys);
  }

  #giveUp(askers: readonly PlaceAsker[], keys: readonly Held[]): void {
    for (const { places } of askers) {
      for (const { held } of places) {
        held.waiting--;
      }
    }
    this.#end(keys);
    for (const asker of askers) {
      asker.undecided();
    }
  }

  #forget(held: Held): void {
    if (held.count === 0 && held.told === 0 && held.waiting === 0 && !held.asked) {
      this.#held.delete(held.key);
      this.#touched.delete(held);
    }
  }

  #end(keys: readonly Held[]): void {
    this.#calling = undefined;
    for (const held of keys) {
      held.asked = false;
      if (!this.#touched.has(held)) {
        this.#forget(held);
      }
    }
    if (this.#waiting.length > 0 || (this.#touched.size > 0 && this.store.up)) {
      this.#schedule();
    }
  }

  #touchAll(): void {
    if (this.#held.size > 0) {
      for (const held of this.#held.values()) {
        this.#touched.add(held);
      }
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
    if (this.#calling !== undefined) {
      return;
    }
    if (!this.store.up) {
      this.#giveUp(this.#waiting.splice(0), []);
      return;
    }
    if (this.#waiting.length === 0 && this.#touched.size === 0) {
      return;
    }
    const askers = this.#waiting.splice(0, MAX_REQUESTS);
    const keys: Held[] = [];
    const places = new Map<Held, number>();
    const requests: number[] = [];
    for (const asker of askers) {
      requests.push(asker.places.length);
      for (const { held, max } of asker.places) {
        let place = places.get(held);
        if (place === undefined) {
          place = keys.push(held);
          places.set(held, place);
        }
        requests.push(place, max);
      }
    }
    for (const held of this.#touched) {
      if (keys.length >= MAX_KEYS) {
        break;
      }
      if (!places.has(held)) {
        keys.push(held);
        places.set(held, keys.length);
      }
    }
    for (const held of keys) {
      this.#touched.delete(held);
      held.asked = true;
      held.told = held.count;
    }
    this.#calling = { keys, askers };
    this.store.run(
      CONN_SCRIPT,
      keys.map(({ key }) => key),
      [this.#who, LEASE_MS, ...keys.map(({ count }) => count), ...requests],
      this,
    );
  }
}
