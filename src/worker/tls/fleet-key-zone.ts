import type { PreparedStatement, Sql, ZoneKind, ZoneRef } from '../../shared/zone/kind.js';
import { CHANGE_TRIES, nowPatiently } from '../../shared/zone/patience.js';
import type { SealedZone } from '../fleet/settings.js';

/** The name of the zone, and its size. */
export const FLEET_KEY_ZONE = ' ssl fleet tickets';
export const FLEET_KEY_BYTES: number = 64 * 1024;

/** The parts of a set: the key in use, the one before it, and the one to come; 48 bytes each. */
export const FLEET_KEYS = 3;
export const FLEET_KEY = 48;

export type FleetKeyZoneRef = ZoneRef<FleetKeyZone, SealedZone>;

/** The keys of tickets that all machines of a fleet have at the moment, for the workers of this one. */
export class FleetKeyZone {
  readonly #sql: Sql;
  readonly #get: PreparedStatement<Uint8Array>;
  readonly #put: PreparedStatement<never>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#get = sql.prepare('SELECT keys FROM fleet_keys WHERE id = 1');
    this.#put = sql.prepare('INSERT OR REPLACE INTO fleet_keys VALUES (1, ?)');
  }

  /** All keys of the set one after the other; undefined while there is none. */
  get(): Buffer | undefined {
    const keys: unknown = this.#sql.read(() => this.#get.get());
    return keys instanceof Uint8Array && keys.length === FLEET_KEYS * FLEET_KEY ? Buffer.from(keys) : undefined;
  }

  /** False: another process holds the zone. */
  put(keys: Buffer): boolean {
    return nowPatiently(this.#sql, () => void this.#put.run(keys), CHANGE_TRIES);
  }
}

/** The kind of zone that `ssl_session_tickets on sync` declares. */
export const fleetKeyZone: ZoneKind<FleetKeyZone, SealedZone> = {
  id: 'ssl_session_tickets',
  ddl: 'CREATE TABLE IF NOT EXISTS fleet_keys (id INTEGER PRIMARY KEY, keys BLOB);',
  open: (sql) => new FleetKeyZone(sql),
};
