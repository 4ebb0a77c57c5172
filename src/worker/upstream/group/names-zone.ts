import type { PreparedStatement, Sql, ZoneKind, ZoneRef } from '../../../shared/zone/kind.js';
import { objectOf } from '../../../shared/zone/row-bytes.js';

/** Name of the one zone for addresses; no configuration can name it so. */
export const NAMES_ZONE = ':upstream names';
export const NAMES_BYTES: number = 1024 * 1024;

/** One address that a name stands for. Without SRV records, only `address` counts. */
export interface KnownAddress {
  readonly address: string;
  /** Name of the SRV record's target. */
  readonly host: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** What a name stood for. */
export interface KnownName {
  /** Milliseconds of the wall clock. */
  readonly validUntil: number;
  readonly addresses: readonly KnownAddress[];
}

/** Addresses found at run time, for the next configuration to begin with. nginx: ngx_http_upstream_zone_preresolve. */
export class NamesZone {
  readonly #sql: Sql;
  readonly #read: PreparedStatement<string>;
  readonly #write: PreparedStatement<never>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#read = sql.prepare('SELECT answer FROM names WHERE key = ?');
    this.#write = sql.prepare('INSERT OR REPLACE INTO names VALUES (?, ?)');
  }

  get(key: string): KnownName | undefined {
    const known = objectOf(this.#sql.read(() => this.#read.get(key)));
    const { validUntil, addresses } = known ?? {};
    const sound = typeof validUntil === 'number' && Array.isArray(addresses) && addresses.every(isAddress);
    return sound ? { validUntil, addresses } : undefined;
  }

  set(key: string, known: KnownName): void {
    this.#sql.submit({ work: () => void this.#write.run(key, JSON.stringify(known)), after: () => {} });
  }
}

/** Whether a part of a row is a {@link KnownAddress}. */
function isAddress(value: unknown): value is KnownAddress {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const { address, host, port, priority, weight } = value as Record<string, unknown>;
  return typeof address === 'string' && typeof host === 'string' && [port, priority, weight].every(Number.isInteger);
}

export type NamesZoneRef = ZoneRef<NamesZone, undefined>;

export const namesZone: ZoneKind<NamesZone, undefined> = {
  id: 'upstream-names',
  ddl: 'CREATE TABLE IF NOT EXISTS names (key TEXT PRIMARY KEY, answer TEXT) WITHOUT ROWID',
  open: (sql) => new NamesZone(sql),
};
