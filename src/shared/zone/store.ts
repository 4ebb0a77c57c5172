import { join } from 'node:path';
import type { Logger } from '../log/error-log.js';
import type { Counters } from './counters.js';
import { counterZone } from './counters.js';
import { Journal } from './journal.js';
import type { AnyZoneRef, PreparedStatement, Sql, TransactionHooks, ZoneJob, ZoneKind, ZoneRef, ZoneScope, ZoneStats } from './kind.js';
import { nowPatiently } from './patience.js';
import type { ZonePlan } from './plan.js';
import { faultOf } from './sqlite.js';
import { TransactionQueue, TransactionScope } from './transaction-queue.js';
import { ZoneFile } from './zone-file.js';

/** A process's access to the shared zones. */
export interface ZoneStore {
  /** The numbers of the status page. */
  readonly counters: Counters;
  /** The operations of a zone; always the same object for one zone. */
  open<Z, D>(ref: ZoneRef<Z, D>): Z;
  /** The operations of all zones of one kind, by name. */
  ofKind<Z, D>(kind: ZoneKind<Z, D>): ReadonlyMap<string, Z>;
  /** A scope for jobs that change several zones at once: their locks are taken together. */
  together(refs: readonly AnyZoneRef[]): ZoneScope;
  /** The configuration's zones with what they tell of themselves, for status pages. */
  stats(): { readonly ref: AnyZoneRef; readonly stats: ZoneStats }[];
  /** A file of texts by time, which is no zone: it outlives the service. */
  journal(path: string): Journal;
  /** Gives back what a dead worker held in the zones that are open. */
  releaseWorker(worker: number): void;
  /** Does the jobs that wait and closes the files. */
  close(): void;
}

class ZoneSql implements Sql {
  readonly file: ZoneFile;
  readonly scope: TransactionScope;

  constructor(file: ZoneFile, scope: TransactionScope) {
    this.file = file;
    this.scope = scope;
  }

  get epoch(): number {
    return this.file.epoch;
  }

  prepare<Row>(text: string): PreparedStatement<Row> {
    return this.file.prepare(text);
  }

  hook(hooks: TransactionHooks): void {
    this.file.hooks.push(hooks);
  }

  submit(job: ZoneJob): void {
    this.scope.submit(job);
  }

  defer(job: ZoneJob): void {
    this.scope.defer(job);
  }

  now(work: () => void): boolean {
    return this.scope.run([{ work, after: () => {} }]);
  }

  look(): void {
    this.file.lookNow();
  }

  regain(): boolean {
    return this.file.regain();
  }

  read<T>(work: () => T): T | undefined {
    this.file.lookBeforeRead();
    for (let tries = 0; tries < 2; tries++) {
      try {
        return work();
      } catch (error) {
        this.file.failure = undefined;
        if (faultOf(error) === 'locked') {
          return undefined;
        }
        this.file.recover(error);
      }
    }
    return undefined;
  }
}

interface OpenZone {
  readonly ref: AnyZoneRef;
  readonly sql: ZoneSql;
  readonly zone: unknown;
}

/** Zones in SQLite files, one for each zone. */
export class SqliteZoneStore implements ZoneStore {
  readonly #plan: ZonePlan;
  readonly #refs: readonly AnyZoneRef[];
  readonly #worker: number;
  readonly #log: Logger;
  readonly #queue = new TransactionQueue();
  readonly #zones = new Map<string, OpenZone>();

  /** `refs` are the configuration's zones; `worker` is a number that no other living process of the service has: the process id. */
  constructor(plan: ZonePlan, refs: readonly AnyZoneRef[], worker: number, log: Logger) {
    this.#plan = plan;
    this.#refs = refs;
    this.#worker = worker;
    this.#log = log;
  }

  get counters(): Counters {
    return this.open(counterZone);
  }

  open<Z, D>(ref: ZoneRef<Z, D>): Z {
    return this.#open(ref).zone as Z;
  }

  ofKind<Z, D>(kind: ZoneKind<Z, D>): ReadonlyMap<string, Z> {
    return new Map(this.#refs.filter((ref) => ref.kind === kind).map((ref) => [ref.name, this.#open(ref).zone as Z]));
  }

  together(refs: readonly AnyZoneRef[]): ZoneScope {
    const files = refs.map((ref) => this.#open(ref).sql.file);
    files.sort((a, b) => (a.name < b.name ? -1 : 1));
    return files.length === 1 ? this.#open(refs[0]!).sql.scope : new TransactionScope(this.#queue, files);
  }

  stats(): { readonly ref: AnyZoneRef; readonly stats: ZoneStats }[] {
    const all: { ref: AnyZoneRef; stats: ZoneStats }[] = [];
    for (const ref of this.#refs) {
      const { sql, zone } = this.#open(ref);
      const stats = sql.read(() => ref.kind.stats?.(zone));
      if (stats !== undefined) {
        all.push({ ref, stats });
      }
    }
    return all;
  }

  journal(path: string): Journal {
    return new Journal(path);
  }

  releaseWorker(worker: number): void {
    for (const { ref, sql } of this.#zones.values()) {
      if (ref.kind.release === undefined) {
        continue;
      }
      nowPatiently(sql, () => ref.kind.release!(sql, worker), RELEASE_TRIES);
    }
  }

  close(): void {
    this.#queue.close();
    for (const { sql } of this.#zones.values()) {
      sql.file.close();
    }
    this.#zones.clear();
  }

  #open(ref: AnyZoneRef): OpenZone {
    const known = this.#zones.get(ref.name);
    if (known !== undefined) {
      return known;
    }
    const { directory, files } = this.#plan;
    const base = directory === undefined ? undefined : join(directory, files[ref.name]!);
    const file = new ZoneFile(ref.name, base, ref.kind.ddl + (ref.kind.moreDdl?.(ref.data) ?? ''), this.#log);
    const sql = new ZoneSql(file, new TransactionScope(this.#queue, [file]));
    const opened = { ref, sql, zone: ref.kind.open(sql, ref, this.#worker) };
    this.#zones.set(ref.name, opened);
    return opened;
  }
}

/**
 * How often, a millisecond apart, the master tries to get at a zone to give back a dead worker's share; beyond the time after which a
 * lock counts as stuck.
 */
const RELEASE_TRIES = 600;
