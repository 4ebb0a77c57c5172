import type { PreparedStatement } from '../../shared/zone/kind.js';
import { preciseMs } from '../../shared/zone/monotonic.js';
import { nowPatiently } from '../../shared/zone/patience.js';
import { Outbox } from '../fleet/outbox.js';
import type { ReplicaChange, ReplicaValue, ReplicaZone } from '../fleet/replica-zone.js';
import type { DiskCache } from './disk-cache.js';
import { notePurge, purgeOlder } from './purge.js';
import type { Purge } from './purge-text.js';
import { purgeOf } from './purge-text.js';

/** So long (milliseconds) purges are kept for machines that are away: a week. */
const LIFE_MS = 7 * 24 * 3600 * 1000;
const TRIES = 1000;

/**
 * The purges of a cache that all machines of a fleet make. Each is kept for a week with the time when it was made, and takes off what is
 * older: a machine that was away makes those that it missed, and keeps what it has stored since.
 */
export class FleetPurges implements ReplicaZone {
  readonly replicaName: string;
  readonly outbox: Outbox;
  readonly #disk: DiskCache;
  readonly #known: PreparedStatement<[at: number, id: string]>;
  readonly #put: PreparedStatement<never>;
  readonly #old: PreparedStatement<never>;
  readonly #keys: PreparedStatement<string>;

  constructor(disk: DiskCache, directive: string) {
    const { sql } = disk.index;
    this.replicaName = `${directive}:${disk.name}`;
    this.outbox = new Outbox(sql);
    this.#disk = disk;
    this.#known = sql.prepare('SELECT at, id FROM purges WHERE key = ?');
    this.#put = sql.prepare('INSERT OR REPLACE INTO purges VALUES (?, ?, ?)');
    this.#old = sql.prepare('DELETE FROM purges WHERE at < ?');
    this.#keys = sql.prepare('SELECT key FROM purges');
  }

  current(key: string): ReplicaValue | undefined {
    const known = this.#disk.index.sql.read(() => this.#known.get(key));
    return known === undefined ? undefined : { text: known[1], life: Math.max(1, Math.ceil(known[0] + LIFE_MS - Date.now())) };
  }

  takeOver(changes: readonly ReplicaChange[]): void {
    let fresh: Purge[] = [];
    const work = (): void => {
      fresh = [];
      const now = Date.now();
      this.#old.run(now - LIFE_MS);
      for (const { key, value } of changes) {
        // One of this machine's own comes back, too.
        if (value === undefined || this.outbox.has(key) || this.#known.get(key)?.[1] === value.text) {
          continue;
        }
        const at = now - Math.max(0, LIFE_MS - value.life);
        this.#put.run(key, at, value.text);
        this.outbox.forget(key);
        const purge = purgeOf(key, at);
        if (purge !== undefined) {
          fresh.push(purge);
          notePurge(this.#disk, purge, preciseMs() - Math.max(0, now - at));
        }
      }
    };
    if (!nowPatiently(this.#disk.index.sql, work, TRIES)) {
      throw new Error(`the zone of the cache "${this.#disk.name}" is held by another process`);
    }
    if (fresh.length > 0) {
      purgeOlder(this.#disk, fresh);
    }
  }

  replicaKeys(): readonly string[] {
    return this.#disk.index.sql.read(() => this.#keys.all()) ?? [];
  }
}
