import type { PreparedStatement, Sql, ZoneKind, ZoneRef } from '../../shared/zone/kind.js';
import { CHANGE_TRIES, nowPatiently } from '../../shared/zone/patience.js';

export const MACHINES_ZONE = ' fleet machines';
export const MACHINES_BYTES: number = 1024 * 1024;

/** So long (milliseconds) a machine is shown that tells no more of itself. */
const SHOWN_MS = 3600 * 1000;

/** What a machine of a fleet tells of itself. */
export interface MachineReport {
  readonly version: string;
  /** When its configuration was loaded; milliseconds of its clock. */
  readonly loadedAt: number;
  readonly workers: number;
  /** How many of them have the store. */
  readonly storeUp: number;
  readonly active: number;
  readonly waiting: number;
  readonly requests: number;
  /** Requests a second, lately. */
  readonly rate: number;
  readonly errors: number;
  /** Decisions that were made without the store though they are the fleet's. */
  readonly local: number;
}

/** A machine, and when it told so last (milliseconds of this machine's clock). */
export interface Machine extends MachineReport {
  readonly node: string;
  readonly seenAt: number;
}

/** No machine has counted more; what is above would fill a page. */
const MAX_NUMBER = 1e15;
const NUMBERS = ['loadedAt', 'workers', 'storeUp', 'active', 'waiting', 'requests', 'rate', 'errors', 'local'] as const;

/** What a text says of a machine; undefined where it is none that a machine has written. */
export function machineOf(text: string): MachineReport | undefined {
  try {
    const found = JSON.parse(text) as MachineReport;
    return typeof found.version === 'string' &&
      found.version.length < 64 &&
      NUMBERS.every((name) => typeof found[name] === 'number' && Math.abs(found[name]) <= MAX_NUMBER)
      ? found
      : undefined;
  } catch {
    return undefined;
  }
}

/** The machines of a fleet, as this one has heard of them. */
export class MachinesZone {
  readonly #sql: Sql;
  readonly #put: PreparedStatement<never>;
  readonly #drop: PreparedStatement<never>;
  readonly #all: PreparedStatement<[node: string, seenAt: number, text: string]>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#put = sql.prepare('INSERT OR REPLACE INTO machines VALUES (?, ?, ?)');
    this.#drop = sql.prepare('DELETE FROM machines WHERE seenAt < ?');
    this.#all = sql.prepare('SELECT node, seenAt, text FROM machines ORDER BY node');
  }

  put(machines: readonly (readonly [node: string, seenAt: number, text: string])[]): void {
    const work = (): void => {
      this.#drop.run(Date.now() - SHOWN_MS);
      for (const [node, seenAt, text] of machines) {
        this.#put.run(node, seenAt, text);
      }
    };
    nowPatiently(this.#sql, work, CHANGE_TRIES);
  }

  all(): Machine[] {
    const rows = this.#sql.read(() => this.#all.all()) ?? [];
    return rows.flatMap(([node, seenAt, text]) => {
      const machine = typeof node === 'string' && typeof text === 'string' ? machineOf(text) : undefined;
      return machine === undefined ? [] : [{ ...machine, node, seenAt }];
    });
  }
}

export type MachinesZoneRef = ZoneRef<MachinesZone, undefined>;

/** The kind of zone that a `shared_store` block has. */
export const machinesZone: ZoneKind<MachinesZone, undefined> = {
  id: 'shared_store',
  ddl: 'CREATE TABLE IF NOT EXISTS machines (node TEXT PRIMARY KEY, seenAt INTEGER, text TEXT);',
  open: (sql) => new MachinesZone(sql),
};

/** A machine as it stands in a JSON document. */
export const machineObject = ({
  node,
  seenAt,
  loadedAt,
  storeUp,
  active,
  waiting,
  requests,
  rate,
  errors,
  local,
  ...rest
}: Machine): object => ({
  node,
  seen: new Date(seenAt).toISOString(),
  version: rest.version,
  configuration_loaded: new Date(Math.min(Math.abs(loadedAt), 8e15)).toISOString(),
  workers: rest.workers,
  workers_up: storeUp,
  connections: { active, waiting },
  requests: { total: requests, rate, '5xx': errors },
  decided_locally: local,
});
