import { randomBytes } from 'node:crypto';
import type { Logger } from '../../shared/log/error-log.js';
import { WARN } from '../../shared/log/level.js';
import { oneLine } from '../../shared/text/error-text.js';
import { setTimer } from '../../shared/time/timer.js';
import { connectStore, type StoreArgument, type StoreConnection } from './connection.js';
import { BEGIN_SCRIPT, REPLICATE_SCRIPT } from './replica-scripts.js';
import type { ReplicaChange, ReplicaZone } from './replica-zone.js';
import type { SharedStore } from './shared-store.js';

/** How often (milliseconds) the outboxes are looked into for what other workers have changed. */
const LOOK_MS = 15;
/** How many changes go in one call, and are taken over at once. */
const MAX_CHANGES = 256;
/** So long (milliseconds) the store waits for a change before it answers that there is none. */
const BLOCK_MS = 5000;
/** The list of changes keeps about so many: whoever misses more reads everything. */
const MAX_LIST = 50_000;
const RETRY_MS = 500;

/** Says that one machine alone changes the zones: who it is stands in the store. */
export interface ReplicaGuard {
  /** The key of the store with the name of that machine. */
  readonly key: string;
  /** The name if it is this machine. */
  token(): string | undefined;
  /** Another machine has become the one that changes the zones. */
  refused(): void;
}

/** Zones that are kept apart from those of the workers. */
export interface ReplicaOptions {
  /** What the keys of the store have after the name of the fleet. */
  readonly part?: string;
  readonly guard?: ReplicaGuard;
}

/**
 * Keeps zones of this machine the same as those of all others. One worker of a machine does it: it sends what the machine has changed, in
 * order, and takes over what the store's list of changes has, in the list's order, which is the same for all.
 */
export class Replicas {
  readonly #store: SharedStore;
  readonly #log: Logger;
  readonly #guard: ReplicaGuard | undefined;
  readonly #zones = new Map<string, ReplicaZone>();
  /** Keys of the store, which are at one place in a cluster. */
  readonly #list: string;
  readonly #table: string;
  readonly #ends: string;
  readonly #name: string;
  #connection: StoreConnection | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sending = false;
  /** The change of the list that was taken over last; undefined: everything has to be read. */
  #last: string | undefined;
  #closed = false;
  /** Counts the beginnings: of two that follow the list one ends. */
  #round = 0;
  #started = false;
  /** What the store's clock is ahead of this process's. */
  #ahead = 0;
  #waiting: NodeJS.Timeout | undefined;
  /** What was said last of changes that cannot be taken over. */
  #complained = '';

  constructor(store: SharedStore, log: Logger, { part = '', guard }: ReplicaOptions = {}) {
    this.#store = store;
    this.#log = log;
    this.#guard = guard;
    const prefix = `sluice:{${store.settings.name}}:${part}`;
    this.#list = `${prefix}changes`;
    this.#table = `${prefix}pairs`;
    this.#ends = `${prefix}ends`;
    this.#name = `${prefix}epoch`;
  }

  /** Adds a zone. */
  add(zone: ReplicaZone): void {
    this.#zones.set(zone.replicaName, zone);
    if (this.#connection !== undefined) {
      // What has gone by is not known of this zone.
      this.#last = undefined;
      this.#connection.reconnect();
    } else if (this.#started) {
      this.start();
    }
  }

  /** Everything that there is has been read once. */
  get ready(): boolean {
    return this.#last !== undefined;
  }

  /** The last change that was taken over. */
  get position(): string {
    return this.#last ?? '0-0';
  }

  /** Reads everything again: what this machine has changed meanwhile does not count. */
  followAnew(): void {
    this.#last = undefined;
    this.#connection?.reconnect();
  }

  start(): void {
    this.#started = true;
    if (this.#zones.size === 0) {
      return;
    }
    this.#connection = connectStore(this.#store.settings, 'changes', {
      connected: () => this.#follow(),
      disconnected: () => {},
    });
    this.#look();
  }

  /** Sends what is left, and takes nothing over any more. */
  close(): void {
    this.#sending = false;
    this.#send();
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#waiting);
    this.#connection?.close();
    this.#connection = undefined;
  }

  #look(): void {
    this.#timer = setTimer(() => {
      this.#send();
      this.#timer?.refresh();
    }, LOOK_MS).unref();
  }

  /** Sends what waits longest, of each zone. */
  #send(): void {
    // Before everything has been read once, what is older here must not replace what is newer there.
    if (this.#sending || this.#closed || !this.#store.up || this.#last === undefined) {
      return;
    }
    const token = this.#guard?.token();
    if (this.#guard !== undefined && token === undefined) {
      return;
    }
    const args: StoreArgument[] = [MAX_LIST, token ?? this.#store.settings.node];
    const sent: [zone: ReplicaZone, numbers: number[]][] = [];
    for (const zone of this.#zones.values()) {
      const waiting = zone.outbox.first(MAX_CHANGES);
      if (waiting.length === 0) {
        continue;
      }
      for (const [, key, refill] of waiting) {
        const value = zone.current(key);
        args.push(zone.replicaName, key, value === undefined ? -1 : value.life, value?.text ?? '', refill);
      }
      sent.push([zone, waiting.map(([seq]) => seq)]);
    }
    if (sent.length === 0) {
      return;
    }
    this.#sending = true;
    const guarded = this.#guard === undefined ? [] : [this.#guard.key];
    this.#store.run(REPLICATE_SCRIPT, [this.#list, this.#table, this.#ends, ...guarded], args, {
      understands: (reply) => reply === 0 || reply === 1,
      replied: (reply) => {
        this.#sending = false;
        if (reply !== 1) {
          this.#guard?.refused();
          return;
        }
        for (const [zone, numbers] of sent) {
          zone.outbox.sent(numbers);
        }
        this.#send();
      },
      lost: () => {
        this.#sending = false;
      },
    });
  }

  /** Begins to take over changes: where it stopped, if the list still has that place, or with everything. */
  #follow(): void {
    this.#round++;
    clearTimeout(this.#waiting);
    const last = this.#last;
    if (last === undefined || last === '0-0') {
      this.#readAll();
      return;
    }
    this.#ask('xrange', [this.#list, last, last], (reply) => {
      if ((reply as unknown[]).length === 0) {
        this.#readAll();
      } else {
        this.#next();
      }
    });
  }

  #ask(command: string, args: readonly StoreArgument[], then: (reply: unknown) => void): void {
    const round = this.#round;
    this.#connection?.send(command, args, (error, reply) => {
      // What an earlier connection was asked has been asked again.
      if (this.#closed || round !== this.#round) {
        return;
      }
      if (error == null) {
        try {
          then(reply);
          return;
        } catch (failure) {
          this.#complain(oneLine(String(failure)));
        }
      }
      // A connection that broke begins anew by itself; this is for a store that cannot answer.
      setTimer(() => {
        if (round === this.#round) {
          this.#follow();
        }
      }, RETRY_MS).unref();
    });
  }

  /** Says what is wrong once: it is tried again and again. */
  #complain(why: string): void {
    if (this.#complained !== why) {
      this.#complained = why;
      this.#log.log(WARN, `shared store "${this.#store.settings.name}": a change cannot be taken over (${why})`);
    }
  }

  #next(): void {
    clearTimeout(this.#waiting);
    // Behind a connection that is silent for longer there may be nobody.
    this.#waiting = setTimer(() => this.#connection?.reconnect(), 2 * BLOCK_MS).unref();
    const asked = performance.now();
    this.#ask('xread', ['COUNT', MAX_CHANGES, 'BLOCK', BLOCK_MS, 'STREAMS', this.#list, this.#last!], (reply) => {
      if (reply !== null) {
        const [[, entries]] = reply as [[string, [id: string, fields: string[]][]]];
        this.#take(entries);
        this.#last = entries.at(-1)![0];
      } else if (performance.now() - asked < RETRY_MS) {
        // A store waits for longer before it says that there is no change.
        throw new TypeError('the store does not wait for changes');
      }
      this.#next();
    });
  }

  #take(entries: readonly (readonly [id: string, fields: readonly string[]])[]): void {
    const changes = new Map<ReplicaZone, Map<string, ReplicaChange>>();
    for (const [id, fields] of entries) {
      // m, z, k, l, v: each name is followed by its value.
      const [, , , name, , key, , life, , text] = fields as readonly (string | undefined)[];
      const zone = this.#zones.get(name ?? '');
      // Another program may have written to the list.
      if (zone !== undefined && key !== undefined && text !== undefined && Number.isInteger(Number(life ?? Number.NaN))) {
        const left = Number(life) > 0 ? Number(life) - this.#ageOf(id) : Number(life);
        // What ended meanwhile is as good as removed.
        put(changes, zone, key, left < 0 || (left === 0 && Number(life) > 0) ? undefined : { text, life: left });
      }
    }
    for (const [zone, ofZone] of changes) {
      zone.takeOver([...ofZone.values()]);
    }
  }

  /** How long ago (milliseconds) a change was made, by the store's clock, which is in its number. */
  #ageOf(id: string): number {
    return Math.max(0, Math.floor(performance.now() + this.#ahead - Number.parseInt(id, 10)));
  }

  #readAll(): void {
    this.#ask('eval', [BEGIN_SCRIPT.text, 2, this.#name, this.#list, randomBytes(12).toString('hex')], (reply) => {
      const [epoch, fresh, last, now] = reply as [string, number, string, string];
      if (typeof epoch !== 'string' || typeof last !== 'string' || !/^\d{1,15}$/.test(now)) {
        throw new TypeError('what the store says of itself makes no sense');
      }
      this.#ahead = Number(now) - performance.now();
      this.#scan('0', new Map(), (found) => {
        for (const zone of this.#zones.values()) {
          this.#bringTogether(zone, found.get(zone) ?? new Map(), epoch, fresh === 1);
        }
        this.#last = last;
        this.#send();
        this.#next();
      });
    });
  }

  #scan(cursor: string, found: Map<ReplicaZone, Map<string, ReplicaChange>>, then: (all: typeof found) => void): void {
    this.#ask('hscan', [this.#table, cursor, 'COUNT', MAX_CHANGES], (reply) => {
      const [next, pairs] = reply as [string, string[]];
      const now = Math.floor(performance.now() + this.#ahead);
      for (let i = 0; i < pairs.length; i += 2) {
        const field = pairs[i]!;
        const line = field.indexOf('\n');
        const zone = this.#zones.get(field.slice(0, line));
        const space = pairs[i + 1]!.indexOf(' ');
        const ends = Number(pairs[i + 1]!.slice(0, space));
        if (zone !== undefined && space > 0 && ends < 0) {
          put(found, zone, field.slice(line + 1), undefined);
        } else if (zone !== undefined && space > 0 && (ends === 0 || ends > now)) {
          put(found, zone, field.slice(line + 1), { text: pairs[i + 1]!.slice(space + 1), life: ends === 0 ? 0 : ends - now });
        }
      }
      if (next === '0') {
        then(found);
      } else {
        this.#scan(next, found, then);
      }
    });
  }

  /**
   * Makes a zone as the store is. What the store does not have was removed while this machine was away, if it is the store that the machine
   * knew; one that has lost everything, or is new, gets it from the machines.
   */
  #bringTogether(zone: ReplicaZone, there: ReadonlyMap<string, ReplicaChange>, epoch: string, fresh: boolean): void {
    const { epoch: known } = zone.outbox;
    const missing = zone.replicaKeys().filter((key) => !there.has(key));
    const storeLost = known === undefined ? fresh : known !== epoch;
    if (!storeLost) {
      zone.takeOver([...there.values(), ...missing.map((key) => ({ key, value: undefined }))]);
    } else {
      zone.takeOver([...there.values()]);
      zone.outbox.refill(missing);
    }
    zone.outbox.epoch = epoch;
  }
}

function put(changes: Map<ReplicaZone, Map<string, ReplicaChange>>, zone: ReplicaZone, key: string, value: ReplicaChange['value']): void {
  let ofZone = changes.get(zone);
  if (ofZone === undefined) {
    changes.set(zone, (ofZone = new Map()));
  }
  ofZone.set(key, { key, value });
}
