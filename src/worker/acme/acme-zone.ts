import { randomInt } from 'node:crypto';
import type { PreparedStatement, Sql, ZoneKind, ZoneStats } from '../../shared/zone/kind.js';
import type { SealedZone } from '../fleet/settings.js';
import { runtimePart } from '../task/protocol-runtime.js';

import { ACME_SYNC_DDL } from './sync-ddl.js';

/** Size of the zone where no `acme_shared_zone` names one. nginx-acme: ACME_ZONE_SIZE. */
export const ACME_ZONE = 'ngx_acme_shared';
export const ACME_ZONE_BYTES: number = 256 * 1024;

/** A certificate with its chain and its key, in PEM. */
export interface CertificatePair {
  readonly chain: string;
  readonly key: string;
}

/** A pair as the zone has it: another pair under the same id has another version. */
export interface VersionedPair extends CertificatePair {
  readonly version: number;
}

/** What is going on with a certificate: for status pages. Times are milliseconds of the wall clock, 0 for none. */
export interface OrderReport {
  readonly id: string;
  readonly issuer: string;
  /** Separated by blanks. */
  readonly identifiers: string;
  readonly state: 'waiting' | 'issued' | 'failing';
  readonly notAfter: number;
  /** When the next attempt or renewal is due. */
  readonly next: number;
  /** Failures since the last success. */
  readonly fails: number;
  /** Why the last attempt failed; empty when it did not. */
  readonly error: string;
}

/** Who knows what is going on, for status pages; nobody where no certificates are wanted. */
export const orderReports = runtimePart<{ read: (() => OrderReport[]) | undefined }>(() => ({ read: undefined }));

/** How long (milliseconds) after the last time that it was asked for a name on demand is forgotten, and its certificate not renewed. */
const WANTED_FOR = 30 * 24 * 3600 * 1000;

/** A name that a certificate is asked for, and from which issuer. */
export interface WantedName {
  readonly issuer: string;
  readonly name: string;
}

/** Shown to a CA that opens a connection for TLS-ALPN-01. */
export type AlpnAnswer = CertificatePair;

type ReportRow = [
  id: string,
  issuer: string,
  identifiers: string,
  state: string,
  notAfter: number,
  next: number,
  fails: number,
  error: string,
];

/** The last moment that a date can stand for. */
const LAST_MOMENT = 8.64e15;
const STATES: ReadonlySet<unknown> = new Set<OrderReport['state']>(['waiting', 'issued', 'failing']);

const areTexts = (row: readonly unknown[]): boolean => row.every((text) => typeof text === 'string');
const areMoments = (row: readonly unknown[]): boolean => row.every((ms) => typeof ms === 'number' && Math.abs(ms) <= LAST_MOMENT);

/** False for a row that came to harm, which is none. */
const isReport = ([id, issuer, identifiers, state, notAfter, next, fails, error]: ReportRow): boolean =>
  areTexts([id, issuer, identifiers, error]) && STATES.has(state) && areMoments([notAfter, next, fails]);

const HTTP = 'http ';
const ALPN = 'alpn ';

/** Versions of pairs are drawn from so many numbers. */
const VERSIONS = 2 ** 48 - 1;

/**
 * What the process that talks to CAs and the workers have in common: certificates with their keys, answers to challenges, and who leads.
 * nginx-acme: AcmeSharedData.
 */
export class AcmeZone {
  /** The zone's tables, for what the fleet is to have of them. */
  readonly sql: Sql;
  readonly #process: number;
  readonly #version: PreparedStatement<number>;
  readonly #pair: PreparedStatement<[version: number, chain: string, key: string]>;
  readonly #setPair: PreparedStatement<never>;
  readonly #answer: PreparedStatement<[answer: string, key: string]>;
  readonly #setAnswer: PreparedStatement<never>;
  readonly #dropAnswer: PreparedStatement<never>;
  readonly #reports: PreparedStatement<ReportRow>;
  readonly #setReport: PreparedStatement<never>;
  readonly #dropReport: PreparedStatement<never>;
  readonly #kept: PreparedStatement<string>;
  readonly #keep: PreparedStatement<never>;
  readonly #dropKept: PreparedStatement<never>;
  readonly #wanted: PreparedStatement<[issuer: string, name: string]>;
  readonly #wantedFrom: PreparedStatement<number>;
  readonly #isWanted: PreparedStatement<number>;
  readonly #want: PreparedStatement<never>;
  readonly #forget: PreparedStatement<never>;
  readonly #leader: PreparedStatement<[process: number, until: number]>;
  readonly #setLeader: PreparedStatement<never>;
  readonly #dropLeader: PreparedStatement<never>;
  readonly #count: PreparedStatement<number>;
  readonly #used: PreparedStatement<number>;

  /** `process` is the number of this process in the zones. */
  constructor(sql: Sql, process: number) {
    this.sql = sql;
    this.#process = process;
    this.#version = sql.prepare('SELECT version FROM pairs WHERE id = ?');
    this.#pair = sql.prepare('SELECT version, chain, key FROM pairs WHERE id = ?');
    this.#setPair = sql.prepare('INSERT OR REPLACE INTO pairs VALUES (?, ?, ?, ?)');
    this.#answer = sql.prepare('SELECT answer, key FROM answers WHERE name = ?');
    this.#setAnswer = sql.prepare('INSERT OR REPLACE INTO answers VALUES (?, ?, ?)');
    this.#dropAnswer = sql.prepare('DELETE FROM answers WHERE name = ?');
    this.#reports = sql.prepare('SELECT id, issuer, identifiers, state, notAfter, next, fails, error FROM reports ORDER BY issuer, id');
    this.#setReport = sql.prepare('INSERT OR REPLACE INTO reports VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
    this.#dropReport = sql.prepare('DELETE FROM reports WHERE id = ?');
    this.#kept = sql.prepare('SELECT text FROM kept WHERE name = ?');
    this.#keep = sql.prepare('INSERT OR REPLACE INTO kept VALUES (?, ?)');
    this.#dropKept = sql.prepare('DELETE FROM kept WHERE name = ?');
    this.#wanted = sql.prepare('SELECT issuer, name FROM wanted WHERE asked BETWEEN ? AND ? ORDER BY issuer, name');
    this.#wantedFrom = sql.prepare('SELECT count(*) FROM wanted WHERE issuer = ?');
    this.#isWanted = sql.prepare('SELECT count(*) FROM wanted WHERE issuer = ? AND name = ?');
    this.#want = sql.prepare('INSERT OR REPLACE INTO wanted VALUES (?, ?, ?)');
    this.#forget = sql.prepare('DELETE FROM wanted WHERE asked < ? OR asked > ?');
    this.#leader = sql.prepare('SELECT process, until FROM leader');
    this.#setLeader = sql.prepare('INSERT OR REPLACE INTO leader VALUES (1, ?, ?)');
    this.#dropLeader = sql.prepare('DELETE FROM leader WHERE process = ?');
    this.#count = sql.prepare('SELECT count(*) FROM pairs');
    this.#used = sql.prepare('SELECT coalesce(sum(length(chain) + length(key)), 0) FROM pairs');
  }

  /** The pair of an id. `known` is what the caller has of it, which is returned when it is still the one. */
  pair(id: string, known: VersionedPair | undefined): VersionedPair | undefined {
    return this.sql.read(() => {
      if (known !== undefined && this.#version.get(id) === known.version) {
        return known;
      }
      const row = this.#pair.get(id);
      return row === undefined || !areTexts([row[1], row[2]]) ? undefined : { version: row[0], chain: row[1], key: row[2] };
    });
  }

  /** Calls back once the workers can find the pair. */
  setPair(id: string, { chain, key }: CertificatePair, done: () => void = () => {}): void {
    // Not counted: what was counted begins anew with a zone that came to harm, and a worker would take another pair for the one it has.
    const version = randomInt(VERSIONS);
    this.sql.submit({ work: () => void this.#setPair.run(id, version, chain, key), after: done });
  }

  /** Makes sure that what is read next is what the workers have, where a zone that came to harm was started anew. */
  look(): void {
    this.sql.look();
  }

  /** The key authorization for a token of HTTP-01. */
  httpAnswer(token: string): string | undefined {
    return this.#readAnswer(HTTP + token)?.[0];
  }

  setHttpAnswer(token: string, answer: string, done: () => void): void {
    this.sql.submit({ work: () => void this.#setAnswer.run(HTTP + token, answer, ''), after: done });
  }

  dropHttpAnswer(token: string): void {
    this.sql.submit({ work: () => void this.#dropAnswer.run(HTTP + token), after: () => {} });
  }

  /** What is shown to a client that names this server and speaks `acme-tls/1` alone. */
  alpnAnswer(serverName: string): AlpnAnswer | undefined {
    const row = this.#readAnswer(ALPN + serverName);
    return row === undefined ? undefined : { chain: row[0], key: row[1] };
  }

  setAlpnAnswer(serverName: string, { chain, key }: AlpnAnswer, done: () => void): void {
    this.sql.submit({ work: () => void this.#setAnswer.run(ALPN + serverName, chain, key), after: done });
  }

  dropAlpnAnswer(serverName: string): void {
    this.sql.submit({ work: () => void this.#dropAnswer.run(ALPN + serverName), after: () => {} });
  }

  #readAnswer(name: string): [answer: string, key: string] | undefined {
    let row = this.sql.read(() => this.#answer.get(name));
    if (row === undefined) {
      // It may be in a file that was put in place of this one a moment ago, and the CA asks but once.
      this.sql.look();
      row = this.sql.read(() => this.#answer.get(name));
    }
    return row === undefined || !areTexts(row) ? undefined : row;
  }

  reports(): OrderReport[] {
    const rows = this.sql.read(() => this.#reports.all()) ?? [];
    return rows.filter(isReport).map(([id, issuer, identifiers, state, notAfter, next, fails, error]) => ({
      id,
      issuer,
      identifiers,
      state: state as OrderReport['state'],
      notAfter,
      next,
      fails,
      error,
    }));
  }

  setReport({ id, issuer, identifiers, state, notAfter, next, fails, error }: OrderReport): void {
    this.sql.submit({
      work: () => void this.#setReport.run(id, issuer, identifiers, state, notAfter, next, fails, error),
      after: () => {},
    });
  }

  /** Forgets the reports of certificates that the configuration does not name. */
  keepReports(ids: ReadonlySet<string>): void {
    for (const { id } of this.reports()) {
      if (!ids.has(id)) {
        this.forgetReport(id);
      }
    }
  }

  /** Forgets what was reported of a certificate. */
  forgetReport(id: string): void {
    this.sql.submit({ work: () => void this.#dropReport.run(id), after: () => {} });
  }

  /** Asks for the certificate of a name, of which an issuer has `most`. Calls back with whether it is one of them. */
  want({ issuer, name }: WantedName, most: number, done: (accepted: boolean) => void): void {
    let accepted = true;
    const work = (): void => {
      const now = Date.now();
      this.#forget.run(now - WANTED_FOR, now + WANTED_FOR);
      accepted = this.#isWanted.one(issuer, name) > 0 || this.#wantedFrom.one(issuer) < most;
      if (accepted) {
        this.#want.run(issuer, name, now);
      }
    };
    this.sql.submit({ work, after: () => done(accepted) });
  }

  /** The names that certificates are asked for. */
  wanted(): WantedName[] {
    const now = Date.now();
    const rows = this.sql.read(() => this.#wanted.all(now - WANTED_FOR, now + WANTED_FOR)) ?? [];
    return rows.filter(areTexts).map(([issuer, name]) => ({ issuer, name }));
  }

  /** A text that is kept for as long as the server runs. */
  kept(name: string): string | undefined {
    const text: unknown = this.sql.read(() => this.#kept.get(name));
    return typeof text === 'string' ? text : undefined;
  }

  keep(name: string, text: string): void {
    this.sql.submit({ work: () => void this.#keep.run(name, text), after: () => {} });
  }

  dropKept(name: string): void {
    this.sql.submit({ work: () => void this.#dropKept.run(name), after: () => {} });
  }

  /** Asks for the lead for some milliseconds, and calls back with whether this process has it. */
  lead(ms: number, done: (leads: boolean) => void): void {
    let leads = false;
    const work = (): void => {
      const now = Date.now();
      const [process, until] = this.#leader.get() ?? [this.#process, 0];
      // A lead that lasts for longer than any is given was begun before the clock was set back; one without an end came to harm.
      leads = process === this.#process || !(until > now && until <= now + ms);
      if (leads) {
        this.#setLeader.run(this.#process, now + ms);
      }
    };
    this.sql.submit({ work, after: () => done(leads) });
  }

  /** Gives the lead up. */
  resign(): void {
    this.sql.submit({ work: () => void this.#dropLeader.run(this.#process), after: () => {} });
  }

  /** For a status page; runs without a transaction. */
  stats(): ZoneStats {
    return { entries: this.#count.one(), used: this.#used.one(), evictions: 0, rejections: 0 };
  }
}

/** The kind of zone that `acme_shared_zone` declares. */
export const acmeZone: ZoneKind<AcmeZone, SealedZone | undefined> = {
  id: 'acme_shared_zone',
  // It grows as it must. nginx-acme: ngx_acme_shared_zone_init copies what the old one has.
  anySize: true,
  ddl: `CREATE TABLE IF NOT EXISTS pairs (id TEXT PRIMARY KEY, version INTEGER, chain TEXT, key TEXT) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS answers (name TEXT PRIMARY KEY, answer TEXT, key TEXT) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS reports (id TEXT PRIMARY KEY, issuer TEXT, identifiers TEXT, state TEXT, notAfter INTEGER, next INTEGER,
      fails INTEGER, error TEXT) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS wanted (issuer TEXT, name TEXT, asked INTEGER, PRIMARY KEY (issuer, name)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS leader (id INTEGER PRIMARY KEY, process INTEGER, until INTEGER);`,
  moreDdl: (data) => (data?.sync ? ACME_SYNC_DDL : ''),
  open: (sql, _zone, process) => new AcmeZone(sql, process),
  release: (sql, process) => void sql.prepare('DELETE FROM leader WHERE process = ?').run(process),
  stats: (zone) => zone.stats(),
};
