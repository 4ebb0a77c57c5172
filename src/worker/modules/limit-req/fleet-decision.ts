import type { ZoneJob, ZoneScope } from '../../../shared/zone/kind.js';
import type { Meters } from '../../../shared/zone/meters.js';
import { monotonicMs } from '../../../shared/zone/monotonic.js';
import type { WorkerEnv } from '../../env.js';
import { storeKey } from '../../fleet/store-key.js';
import type { Request } from '../../http/request/request.js';
import { Decision, type LimitReqSettings, RequestLimits } from './decision.js';
import type { Asker, FleetRates, Share } from './fleet-rates.js';
import { KnownLevels } from './known-levels.js';
import { ADMITTED, BUSY, NOT_COUNTED, type RateLimit, UNDECIDED } from './zone.js';

/** A limit that the machines of a fleet have in common. */
interface FleetLimit extends RateLimit {
  /** Where it stands among the limits of the location. */
  readonly at: number;
  /** What keys of its buckets begin with. */
  readonly prefix: string;
  readonly known: KnownLevels;
}

/** The limits of a location some of which the machines of a fleet have in common. */
export class FleetLimits extends RequestLimits {
  readonly rates: FleetRates;
  readonly shared: readonly FleetLimit[];
  /** What a machine has of the shared limits while the store is lost. */
  readonly fallback: readonly RateLimit[];
  readonly fallbackScope: ZoneScope;
  /** The limits of this machine alone. */
  readonly own: readonly RateLimit[];
  readonly ownAt: readonly number[];
  readonly ownScope: ZoneScope | undefined;

  constructor(conf: Readonly<LimitReqSettings>, env: WorkerEnv, meters: Meters | null, rates: FleetRates) {
    super(conf, env, meters);
    const { prefix, settings } = rates.store;
    const synced = conf.limits.map(({ zone }) => zone.data.sync);
    const refs = (which: boolean): LimitReqSettings['limits'][number]['zone'][] =>
      conf.limits.map(({ zone }) => zone).filter((_, i) => synced[i] === which);
    this.rates = rates;
    this.shared = this.limits.flatMap((limit, at) =>
      synced[at]
        ? [{ ...limit, at, prefix: `${prefix}r:${storeKey(limit.zone.name)}:`, known: (limit.zone.known ??= new KnownLevels()) }]
        : [],
    );
    const share = (n: number): number => Math.floor(n / settings.divisor);
    this.fallback = this.shared.map(({ zone, rate, burst, delay }) => ({
      zone,
      rate: Math.max(1, share(rate)),
      // Whole requests, as everywhere.
      burst: share(burst / 1000) * 1000,
      delay: settings.divisor === 1 ? delay : share(delay),
    }));
    this.fallbackScope = env.zones.together(refs(true));
    this.ownAt = synced.flatMap((sync, at) => (sync ? [] : [at]));
    this.own = this.ownAt.map((at) => this.limits[at]!);
    this.ownScope = this.own.length === 0 ? undefined : env.zones.together(refs(false));
  }
}

// What a decision waits for.
const OWN = 0;
const STORE = 1;
const FALLBACK = 2;

/**
 * One request. The limits of this machine alone come first; what they admit the store decides on, and what it refuses they give back. While
 * the store is lost the zone of this machine stands in for it.
 */
export class FleetDecision extends Decision implements Asker {
  shares: readonly Share[] = [];
  readonly #location: FleetLimits;
  readonly #keys: readonly string[];
  #step = STORE;
  /** The shared limits that count this request, and their keys. */
  readonly #counting: FleetLimit[] = [];
  /** The limit among this machine's own that delays the request most. */
  #before: { readonly limit: RateLimit | undefined; readonly excess: number; readonly delay: number } | undefined = undefined;

  constructor(r: Request, location: FleetLimits, keys: readonly string[]) {
    super(r, location, keys);
    this.#location = location;
    this.#keys = keys;
  }

  begin(): void {
    const { shared, own, ownAt, ownScope, rates } = this.#location;
    const shares: Share[] = [];
    for (let i = 0; i < shared.length; i++) {
      const limit = shared[i]!;
      const key = this.#keys[limit.at]!;
      if (key === '') {
        continue;
      }
      const { rate, burst } = limit;
      const excess = limit.known.refuses(key, rate, burst);
      if (excess > 0) {
        rates.store.countKnown();
        this.#refuse(limit, excess);
        rates.goOn(this);
        return;
      }
      shares.push({ key: limit.prefix + storeKey(key), rate, burst });
      this.#counting.push(limit);
    }
    this.shares = shares;
    if (ownScope !== undefined && own.some((_, i) => this.#keys[ownAt[i]!] !== '')) {
      this.#step = OWN;
      ownScope.submit(this);
    } else {
      this.#askStore();
    }
  }

  override work(): void {
    const { own, ownAt, fallback, shared } = this.#location;
    if (this.#step === OWN) {
      this.decide(
        own,
        ownAt.map((at) => this.#keys[at]!),
        monotonicMs(),
      );
    } else {
      this.decide(
        fallback,
        shared.map(({ at }) => this.#keys[at]!),
        monotonicMs(),
      );
    }
  }

  override after(): void {
    if (this.#step === OWN) {
      if (this.code === ADMITTED && this.shares.length > 0) {
        this.#before = { limit: this.limit, excess: this.excess, delay: this.delay };
        this.#askStore();
        return;
      }
    } else if (this.code === ADMITTED || this.code === NOT_COUNTED) {
      this.#mergeBefore();
    } else {
      this.#giveBack();
    }
    this.conclude();
  }

  admitted(levels: readonly number[], from: number): void {
    this.code = ADMITTED;
    this.delay = this.excess = 0;
    for (let i = this.#counting.length - 1; i >= 0; i--) {
      const limit = this.#counting[i]!;
      const level = levels[from + i]!;
      limit.known.learn(this.#keys[limit.at]!, level, limit.burst);
      this.limit ??= limit;
      this.delayBy(limit, level);
    }
    this.#mergeBefore();
    this.conclude();
  }

  refused(share: number, level: number): void {
    const limit = this.#counting[share]!;
    // Without the request that was refused.
    limit.known.learn(this.#keys[limit.at]!, level - 1000, limit.burst);
    this.#refuse(limit, level);
    this.#giveBack();
    this.conclude();
  }

  undecided(): void {
    const { rates, fallbackScope } = this.#location;
    if (rates.store.settings.failure === 'local') {
      rates.store.countLocal();
      this.#step = FALLBACK;
      fallbackScope.submit(this);
      return;
    }
    this.#giveBack();
    this.code = UNDECIDED;
    this.limit = this.#counting[0]!;
    rates.goOn(this);
  }

  #askStore(): void {
    this.#step = STORE;
    const { rates } = this.#location;
    if (rates.store.up) {
      rates.ask(this);
    } else {
      this.undecided();
    }
  }

  #refuse(limit: RateLimit, excess: number): void {
    this.code = BUSY;
    this.limit = limit;
    this.excess = excess;
    this.delay = 0;
  }

  #mergeBefore(): void {
    const before = this.#before;
    if (before !== undefined && before.delay > this.delay) {
      this.limit = before.limit;
      this.excess = before.excess;
      this.delay = before.delay;
    }
  }

  /** Takes the request out of the buckets of this machine again, where it has been put in. */
  #giveBack(): void {
    if (this.#before !== undefined) {
      const { own, ownAt, ownScope } = this.#location;
      ownScope!.submit(
        new Refund(
          own,
          ownAt.map((at) => this.#keys[at]!),
        ),
      );
    }
  }
}

/** Takes a request out of buckets. */
class Refund implements ZoneJob {
  readonly #limits: readonly RateLimit[];
  readonly #keys: readonly string[];

  constructor(limits: readonly RateLimit[], keys: readonly string[]) {
    this.#limits = limits;
    this.#keys = keys;
  }

  work(): void {
    for (let i = 0; i < this.#limits.length; i++) {
      if (this.#keys[i] !== '') {
        this.#limits[i]!.zone.giveBack(this.#keys[i]!);
      }
    }
  }

  after(): void {}
}
