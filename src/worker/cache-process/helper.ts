import type { CachePathSpec } from '../../shared/config/configuration.js';
import type { Server, WorkerProcess } from '../../shared/ipc/serve.js';
import { setTimer } from '../../shared/time/timer.js';
import type { ZoneRef } from '../../shared/zone/kind.js';
import { SqliteZoneStore } from '../../shared/zone/store.js';
import type { CacheDef } from '../cache/cache-def.js';
import { DiskCache } from '../cache/disk-cache.js';
import { type CacheFamily, type CacheIndex, cacheZones } from '../cache/index-zone.js';

/** What a helper process of the caches has at hand. */
export interface Helper {
  readonly caches: readonly DiskCache[];
  /** The folders of the configuration in which temporary files may lie. */
  readonly folders: readonly string[];
}

/** One step of a helper's work; it returns the milliseconds until the next one, or undefined when there is nothing more to do. */
export type HelperStep = () => number | undefined;

/** Runs a helper process: its steps, one after the other, until it is told to end. */
export function runHelper(worker: WorkerProcess, make: (helper: Helper) => readonly HelperStep[], idle: () => void): Server {
  const { caches: specs, folders } = worker.cacheWork!;
  const refs = specs.map(zoneOf);
  const zones = new SqliteZoneStore(worker.zones, refs, worker.id, worker.log);
  const caches = refs.map((ref) => new DiskCache(zones.open(ref), worker.log, false));
  const timers = new Set<NodeJS.Timeout>();
  let running = 0;
  const after = (step: HelperStep, ms: number): void => {
    const timer = setTimer(() => {
      timers.delete(timer);
      const pause = step();
      if (pause !== undefined) {
        after(step, pause);
      } else if (--running === 0) {
        idle();
      }
    }, ms);
    timers.add(timer);
  };
  const close = (): void => {
    for (const timer of timers) {
      clearTimeout(timer);
    }
    timers.clear();
    for (const cache of caches) {
      cache.close();
    }
    zones.close();
  };
  return {
    start() {
      const steps = make({ caches, folders });
      running = steps.length;
      for (const step of steps) {
        after(step, 0);
      }
      if (running === 0) {
        setImmediate(idle);
      }
    },
    drain(done) {
      close();
      done();
    },
    terminate: close,
  };
}

function zoneOf({ zone: { family, name, bytes, data } }: CachePathSpec): ZoneRef<CacheIndex, CacheDef> {
  return { kind: cacheZones[family as CacheFamily], name, bytes, data: data as CacheDef };
}
