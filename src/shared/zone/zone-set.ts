import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../log/error-log.js';
import { ALERT } from '../log/level.js';
import { linesLost } from '../log/lost-lines.js';
import { setTimer } from '../time/timer.js';
import { counterZone } from './counters.js';
import type { AnyZoneRef } from './kind.js';
import { SERVICE, serviceKind } from './meter-kinds.js';
import { type PlannedZone, reconcileZones, type ZonePlan } from './plan.js';
import { RunDirectory } from './run-directory.js';
import { SqliteZoneStore } from './store.js';

/** Milliseconds between two looks at how many lines of its logs the master has lost. */
const LINES_EVERY = 5000;

/**
 * The zones of a running service over all its configurations: the master's side. Each configuration has a plan, from `prepare`;
 * `commit` tells that it is in force and `retire` that no process works with it any more.
 */
export class ZoneSet {
  readonly #directory: RunDirectory | undefined;
  readonly #log: Logger;
  readonly #plans = new Map<ZonePlan, readonly PlannedZone[]>();
  #current: ZonePlan | undefined;
  #files = 0;
  /** How many lost lines of this process's logs are told; undefined where its workers' numbers have them. */
  #linesTold: number | undefined = undefined;

  /**
   * `base` is the value of `zone_directory`, `uid` the user of the workers when the master is root. Without a folder that can be
   * written, each worker counts for itself.
   */
  constructor(base: string | undefined, uid: number | undefined, log: Logger) {
    this.#log = log;
    try {
      this.#directory = new RunDirectory(base, uid);
    } catch (error) {
      log.log(ALERT, `shared zones cannot be stored (${(error as Error).message}), each worker counts for itself`);
    }
  }

  /** Plans the zones of a new configuration and makes their files. A string is nginx's message that refuses it. */
  prepare(refs: readonly AnyZoneRef[]): ZonePlan | string {
    const current = this.#zonesOf(this.#current);
    const planned = reconcileZones(current, [counterZone, ...refs], (name) => this.#newFile(name));
    if (typeof planned === 'string') {
      return planned;
    }
    const plan: ZonePlan = {
      directory: this.#directory?.path,
      files: Object.fromEntries(planned.map((zone) => [zone.ref.name, zone.file])),
    };
    this.#plans.set(plan, planned);
    // Made here, so that workers need not race for it and a fault is reported once.
    const added = planned.filter((zone) => !current.some((old) => old.file === zone.file));
    this.#visit(plan, added, () => {});
    return plan;
  }

  /** The plan is the one in force from now on. */
  commit(plan: ZonePlan): void {
    this.#current = plan;
    this.#note((values) => {
      values[SERVICE.generation]!++;
      values[SERVICE.loadedAt] = Date.now();
    });
  }

  /** A reload failed or was refused: the plan of before stays in force. */
  refused(): void {
    this.#note((values) => {
      values[SERVICE.refused]!++;
      values[SERVICE.refusedAt] = Date.now();
    });
  }

  /** Every worker accepts. */
  ready(): void {
    this.#note((values) => {
      values[SERVICE.readyAt] = Date.now();
    });
  }

  /** The server has been told to end. */
  ending(): void {
    this.#note((values) => {
      values[SERVICE.endingAt] = Date.now();
    });
  }

  /** A worker that ended by itself is replaced. */
  respawned(): void {
    this.#note((values) => {
      values[SERVICE.respawned]!++;
    });
  }

  /** From now on the status pages count the lines of logs that this process has lost, too, which is none of the workers. */
  countLines(): void {
    this.#linesTold = 0;
    const timer = setTimer(() => {
      if (this.#linesTold !== linesLost()) {
        this.#note(() => {});
      }
      timer.refresh();
    }, LINES_EVERY).unref();
  }

  /** Changes what the status pages tell of the service as a whole. */
  #note(change: (values: Float64Array) => void): void {
    const plan = this.#current;
    if (plan === undefined) {
      return;
    }
    const zone = this.#zonesOf(plan).filter(({ ref }) => ref.name === counterZone.name);
    this.#visit(plan, zone, (store) => {
      store.counters.meters.change(serviceKind, '', (values) => {
        change(values);
        if (this.#linesTold !== undefined) {
          const lost = linesLost();
          values[SERVICE.linesLost]! += lost - this.#linesTold;
          this.#linesTold = lost;
        }
      });
    });
  }

  /**
   * No process works with the plan. Removes the files of zones that no other plan has; those that cannot be removed now go with the next
   * one's.
   */
  retire(plan: ZonePlan): void {
    if (plan === this.#current || !this.#plans.delete(plan)) {
      return;
    }
    const directory = this.#directory;
    if (directory === undefined) {
      return;
    }
    const kept = [...this.#plans.values()].flat();
    directory.tryAsUser(() => {
      for (const file of readdirSync(directory.path)) {
        if (file.startsWith('owner') || kept.some((zone) => file.startsWith(`${zone.file}.`))) {
          continue;
        }
        rmSync(join(directory.path, file), { force: true });
      }
    });
  }

  /** Gives back what a worker held that has ended. */
  releaseWorker(worker: number): void {
    const zones = new Map<string, [ZonePlan, PlannedZone]>();
    for (const [plan, planned] of this.#plans) {
      for (const zone of planned) {
        zones.set(zone.file, [plan, zone]);
      }
    }
    for (const [plan, zone] of zones.values()) {
      this.#visit(plan, [zone], (store) => store.releaseWorker(worker));
    }
  }

  /** Removes everything: the service ends. */
  close(): void {
    this.#directory?.remove();
  }

  #zonesOf(plan: ZonePlan | undefined): readonly PlannedZone[] {
    return (plan && this.#plans.get(plan)) ?? [];
  }

  #visit(plan: ZonePlan, zones: readonly PlannedZone[], visit: (store: SqliteZoneStore) => void): void {
    if (this.#directory === undefined || zones.length === 0) {
      return;
    }
    this.#directory.asUser(() => {
      const refs = zones.map((zone) => zone.ref);
      const store = new SqliteZoneStore(plan, refs, 0, this.#log);
      for (const ref of refs) {
        store.open(ref);
      }
      visit(store);
      store.close();
    });
  }

  // A name may hold any character; the number alone makes the file name unique.
  #newFile(name: string): string {
    return `${zoneFileName(name)}-${this.#files++}`;
  }
}

/** What the name of a zone's file begins with. */
export const zoneFileName = (name: string): string => name.replace(/[^0-9A-Za-z_-]/g, '_').slice(0, 60);
