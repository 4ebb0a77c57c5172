import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Sql, ZoneKind, ZoneStats } from '../../../shared/zone/kind.js';
import { type LruEntry, LruTable, lruDdl } from '../../../shared/zone/lru-table.js';
import type { Meter } from '../../../shared/zone/meters.js';
import type { Request } from '../../http/request/request.js';
import type { KnownLevels } from './known-levels.js';

// Rates, bursts and excesses are whole numbers of thousandths of a request (per second), as in nginx.

/** What a zone of requests is keyed by and how fast its buckets leak. */
export interface RateData {
  /** Thousandths of a request a second. */
  readonly rate: number;
  readonly key: ComplexValue<Request>;
  /** The machines of a fleet count together. */
  readonly sync: boolean;
}

/** One `limit_req` in force: a zone with the rate, burst and delay that this place allows. */
export interface RateLimit {
  readonly zone: RateZone;
  readonly rate: number;
  readonly burst: number;
  readonly delay: number;
}

/** Lookup results. BUSY: the bucket is full. NO_ROOM: the key is larger than its whole zone. */
export const ADMITTED = 0;
export const BUSY = 1;
export const NO_ROOM = 2;
/** No limit had a key to count. */
export const NOT_COUNTED = 3;
/** The fleet's store is lost, and nothing else decides. */
export const UNDECIDED = 4;

/** What a key has in its bucket at a moment, one more request included. nginx: the arithmetic of ngx_http_limit_req_lookup. */
export function leak(excess: number, rate: number, ms: number): number {
  return Math.max(0, excess - Math.floor((rate * ms) / 1000) + 1000);
}

/**
 * Milliseconds between the last accounted request and now; the clocks of workers may differ by what one tick takes. nginx: the same
 * place.
 */
export function elapsed(now: number, last: number): number {
  const ms = now - last;
  if (ms >= 0) {
    return ms;
  }
  return ms < -60_000 ? 1 : 0;
}

/** Bytes that nginx stores beside each key: ngx_rbtree_node_t up to `color` and ngx_http_limit_req_node_t up to `data`. */
const NODE = 80;

const COLUMNS = ['last', 'excess'] as const;
const LAST = 0;
const EXCESS = 1;

/** The buckets of one zone. nginx: ngx_http_limit_req_ctx_t. */
export class RateZone {
  readonly name: string;
  readonly table: LruTable;
  /** Counts what is decided; null where nothing is counted. */
  meter: Meter | null = null;
  /** Buckets that are full by what a store has told; undefined where no fleet counts. */
  known: KnownLevels | undefined = undefined;
  /** The entry of the request that is being decided. nginx: ctx->node */
  entry: LruEntry | undefined = undefined;
  /** What the last lookup or account found in the bucket. */
  excess = 0;

  constructor(name: string, table: LruTable) {
    this.name = name;
    this.table = table;
  }

  /** Whether the bucket takes one more request. With `account` it is put in at once. nginx: ngx_http_limit_req_lookup. */
  lookup(key: string, { burst, rate }: RateLimit, now: number, account: boolean): number {
    const { table } = this;
    const entry = table.get(key);
    if (entry === undefined) {
      this.excess = 0;
      this.entry = table.add(key, [account ? now : 0, 0]);
      return this.entry === undefined ? NO_ROOM : ADMITTED;
    }
    this.entry = entry;
    const ms = elapsed(now, entry.values[LAST]!);
    const excess = leak(entry.values[EXCESS]!, rate, ms);
    this.excess = excess;
    if (excess > burst) {
      table.touch(entry);
      table.reject();
      return BUSY;
    }
    if (account) {
      this.#put(entry, excess, ms, now);
    } else {
      table.touch(entry);
    }
    return ADMITTED;
  }

  /** Puts the request into the bucket that `lookup` found. nginx: the loop of ngx_http_limit_req_account. */
  account(rate: number, now: number): void {
    const entry = this.entry!;
    const ms = elapsed(now, entry.values[LAST]!);
    this.excess = leak(entry.values[EXCESS]!, rate, ms);
    this.#put(entry, this.excess, ms, now);
  }

  /** Takes a request out of the bucket again. For inside a transaction. */
  giveBack(key: string): void {
    const entry = this.table.get(key);
    if (entry !== undefined) {
      entry.values[EXCESS] = Math.max(0, entry.values[EXCESS]! - 1000);
      this.table.save(entry);
    }
  }

  #put(entry: LruEntry, excess: number, ms: number, now: number): void {
    entry.values[EXCESS] = excess;
    if (ms > 0) {
      entry.values[LAST] = now;
    }
    this.table.save(entry);
  }
}

/** What several limits together say of a request. */
export class RateDecision {
  code = NOT_COUNTED;
  /** The limit that refused the request, or delays it most. */
  limit: RateLimit | undefined = undefined;
  /** What that limit's bucket held. */
  excess = 0;
  /** Milliseconds the request has to wait. */
  delay = 0;

  /**
   * Decides by all limits in order: a request counts in all of them or, when one refuses it, in none. `keys` has the key of
   * each limit; an empty one is not counted. Runs inside a transaction over all zones. nginx: ngx_http_limit_req_handler.
   */
  decide(limits: readonly RateLimit[], keys: readonly string[], now: number): void {
    this.code = NOT_COUNTED;
    this.limit = undefined;
    this.excess = this.delay = 0;
    const last = limits.length - 1;
    for (let i = 0; i <= last; i++) {
      const limit = limits[i]!;
      limit.zone.entry = undefined;
      if (keys[i] === '') {
        continue;
      }
      this.limit = limit;
      this.code = limit.zone.lookup(keys[i]!, limit, now, i === last);
      if (this.code !== ADMITTED) {
        this.excess = limit.zone.excess;
        return;
      }
      if (i === last) {
        this.delayBy(limit, limit.zone.excess);
      }
    }
    if (this.code === NOT_COUNTED) {
      return;
    }
    // nginx: ngx_http_limit_req_account
    for (let i = last - 1; i >= 0; i--) {
      const limit = limits[i]!;
      if (limit.zone.entry === undefined) {
        continue;
      }
      limit.zone.account(limit.rate, now);
      this.delayBy(limit, limit.zone.excess);
    }
  }

  /** Notes what a limit has its bucket hold; the one that delays most counts. */
  protected delayBy(limit: RateLimit, excess: number): void {
    const delay = excess <= limit.delay ? 0 : Math.floor(((excess - limit.delay) * 1000) / limit.rate);
    if (delay <= this.delay) {
      return;
    }
    this.delay = delay;
    this.excess = excess;
    this.limit = limit;
  }
}

/** Milliseconds until a bucket that holds `excess`, the refused request included, would admit it. */
export function retryAfter(excess: number, limit: RateLimit): number {
  return Math.ceil(((excess - limit.burst) * 1000) / limit.rate);
}

/** The kind of zone that `limit_req_zone` declares. */
export const rateZone: ZoneKind<RateZone, RateData> = {
  id: 'limit_req',
  ddl: lruDdl(COLUMNS),
  open: (sql: Sql, zone) => new RateZone(zone.name, new LruTable(sql, COLUMNS, zone.bytes, NODE)),
  stats: (zone): ZoneStats => zone.table.stats(),
  conflict: (name, before, after) =>
    before.key.text === after.key.text
      ? undefined
      : `limit_req "${name}" uses the "${after.key.text}" key while previously it used the "${before.key.text}" key`,
};
