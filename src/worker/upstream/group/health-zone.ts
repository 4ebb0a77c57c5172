import type { PreparedStatement, Sql, ZoneKind, ZoneRef } from '../../../shared/zone/kind.js';
import { runtimePart } from '../../task/protocol-runtime.js';
import type { UpstreamGroup } from './group.js';

/** Name of the one zone for the results of health checks; no configuration can name it so. */
export const HEALTH_ZONE = ':upstream health';
export const HEALTH_BYTES: number = 1024 * 1024;

/** What the checks of a peer have come to. */
export interface HealthRecord {
  /** One of HEALTHY, UNHEALTHY and UNKNOWN. */
  readonly health: number;
  /** Checks made, those that failed, and how often the peer became unhealthy. */
  readonly checks: number;
  readonly fails: number;
  readonly unhealthy: number;
  readonly lastPassed: boolean;
  /** Since when the peer gets no requests, in milliseconds of the wall clock; 0: it gets some. */
  readonly downSince: number;
  /** Milliseconds that it got none before that. */
  readonly downtime: number;
}

type Row = [
  peer: string,
  health: number,
  checks: number,
  fails: number,
  unhealthy: number,
  passed: number,
  downSince: number,
  downtime: number,
];

/** The results of health checks, which outlive a reload. */
export class HealthZone {
  readonly #sql: Sql;
  readonly #read: PreparedStatement<Row>;
  readonly #write: PreparedStatement<never>;
  readonly #drop: PreparedStatement<never>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#read = sql.prepare('SELECT peer, health, checks, fails, unhealthy, passed, down_since, downtime FROM health WHERE upstream = ?');
    this.#write = sql.prepare('INSERT OR REPLACE INTO health VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#drop = sql.prepare('DELETE FROM health WHERE upstream = ? AND peer = ?');
  }

  /** The records of a group's peers by their names. */
  read(group: string): Map<string, HealthRecord> {
    const rows = this.#sql.read(() => this.#read.all(group)) ?? [];
    return new Map(
      rows.map(([peer, health, checks, fails, unhealthy, passed, downSince, downtime]) => [
        peer,
        { health, checks, fails, unhealthy, lastPassed: passed === 1, downSince, downtime },
      ]),
    );
  }

  write(group: string, peer: string, record: HealthRecord): void {
    const { health, checks, fails, unhealthy, lastPassed, downSince, downtime } = record;
    const work = (): void => void this.#write.run(group, peer, health, checks, fails, unhealthy, lastPassed ? 1 : 0, downSince, downtime);
    this.#sql.submit({ work, after: () => {} });
  }

  /** Forgets a peer that the group has no more. */
  drop(group: string, peer: string): void {
    this.#sql.submit({ work: () => void this.#drop.run(group, peer), after: () => {} });
  }
}

export type HealthZoneRef = ZoneRef<HealthZone, undefined>;

export const healthZone: ZoneKind<HealthZone, undefined> = {
  id: 'upstream-health',
  ddl: `CREATE TABLE IF NOT EXISTS health (upstream TEXT, peer TEXT, health INTEGER, checks INTEGER, fails INTEGER, unhealthy INTEGER,
    passed INTEGER, down_since INTEGER, downtime INTEGER, PRIMARY KEY (upstream, peer)) WITHOUT ROWID`,
  open: (sql) => new HealthZone(sql),
};

/** The active checks of groups; the module that makes them knows what they are. */
export const checksOf = runtimePart(() => new Map<UpstreamGroup, object>());
