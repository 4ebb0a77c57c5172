import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../log/error-log.js';
import { ALERT } from '../log/level.js';
import { counterZone } from './counters.js';
import type { AnyZoneRef } from './kind.js';
import { type PlannedZone, reconcileZones, type ZonePlan } from './plan.js';
import { RunDirectory, type ZoneUser } from './run-directory.js';
import { SqliteZoneStore } from './store.js';

/**
 * The zones of a running service over all its configurations: the master's side. Its calls in the order of a reload are
 * `prepare` (may refuse), then either `commit` once the new workers serve, or `abandon`; and `sweep` when the last old
 * worker has gone.
 */
export class ZoneSet {
  readonly #directory: RunDirectory | undefined;
  readonly #log: Logger;
  #current: readonly PlannedZone[] = [];
  #next: readonly PlannedZone[] | undefined;
  #files = 0;

  /** `base` is the value of `zone_directory`. Without a folder that can be written, workers count for themselves. */
  constructor(base: string | undefined, user: ZoneUser | undefined, log: Logger) {
    this.#log = log;
    try {
      this.#directory = new RunDirectory(base, user);
    } catch (error) {
      this.#directory = undefined;
      log.log(ALERT, `shared zones cannot be stored (${(error as Error).message}), each worker counts for itself`);
    }
  }

  /** Plans the zones of a new configuration and makes their files. A string is nginx's message that refuses it. */
  prepare(refs: readonly AnyZoneRef[]): ZonePlan | string {
    const planned = reconcileZones(this.#current, [counterZone, ...refs], (name) => this.#newFile(name));
    if (typeof planned === 'string') return planned;
    this.#next = planned;
    const plan: ZonePlan = {
      directory: this.#directory?.path,
      files: Object.fromEntries(planned.map((zone) => [zone.ref.name, zone.file])),
    };
    // Made here, so that workers need not race for it and a fault is reported once.
    const created = planned.filter((zone) => !this.#current.some((old) => old.file === zone.file));
    this.#visit(plan, created, () => {});
    return plan;
  }

  /** The prepared configuration is in use. */
  commit(): void {
    this.#current = this.#next ?? this.#current;
    this.#next = undefined;
  }

  /** The prepared configuration is given up. */
  abandon(): void {
    this.#next = undefined;
    this.sweep();
  }

  /** Removes the files of zones that no configuration in use names. */
  sweep(): void {
    const directory = this.#directory;
    if (directory === undefined) return;
    const used = [...this.#current, ...(this.#next ?? [])];
    directory.asUser(() => {
      for (const file of readdirSync(directory.path)) {
        if (file.startsWith('owner') || used.some((zone) => file.startsWith(`${zone.file}.`))) continue;
        rmSync(join(directory.path, file), { force: true });
      }
    });
  }

  /** Gives back what a worker held that has died. `worker` is its process id. */
  releaseWorker(worker: number): void {
    const plan: ZonePlan = {
      directory: this.#directory?.path,
      files: Object.fromEntries(this.#current.map((zone) => [zone.ref.name, zone.file])),
    };
    this.#visit(plan, this.#current, (store) => store.releaseWorker(worker));
  }

  /** Removes everything: the service ends. */
  close(): void {
    this.#directory?.remove();
  }

  #visit(plan: ZonePlan, zones: readonly PlannedZone[], visit: (store: SqliteZoneStore) => void): void {
    if (this.#directory === undefined || zones.length === 0) return;
    this.#directory.asUser(() => {
      const refs = zones.map((zone) => zone.ref);
      const store = new SqliteZoneStore(plan, refs, 0, this.#log);
      for (const ref of refs) store.open(ref);
      visit(store);
      store.close();
    });
  }

  // A name may hold any character; the number alone makes the file name unique.
  #newFile(name: string): string {
    return `${name.replace(/[^0-9A-Za-z_-]/g, '_').slice(0, 60)}-${this.#files++}`;
  }
}
