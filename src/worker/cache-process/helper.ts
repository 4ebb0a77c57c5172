import { In } from '../../shared/config/context.js';
import { blockIn, loadFromSnapshot } from '../../shared/config/load.js';
import type { Server, WorkerProcess } from '../../shared/ipc/serve.js';
import { setTimer } from '../../shared/time/timer.js';
import { SqliteZoneStore } from '../../shared/zone/store.js';
import { cachePathScope } from '../cache/cache-paths.js';
import { DiskCache } from '../cache/disk-cache.js';
import { language } from '../language.js';
import type { ClientTask } from '../task/client-task.js';

/** What a helper process of the caches has at hand. */
export interface Helper {
  readonly caches: readonly DiskCache[];
  /** The folders of the configuration in which temporary files may lie. */
  readonly folders: readonly string[];
}

/** One step of a helper's work; it returns the milliseconds until the next one, or undefined when there is nothing more to do. */
export type Step = () => number | undefined;

/** Runs a helper process: its steps, one after the other, until it is told to end. */
export function runHelper(worker: WorkerProcess, make: (helper: Helper) => readonly Step[], idle: () => void): Server {
  const loaded = loadFromSnapshot<ClientTask>(language, worker.snapshot);
  const zones = new SqliteZoneStore(worker.zones, loaded.zones.all(), worker.id, worker.log);
  const http = blockIn(loaded.root, In.HTTP);
  const paths = http === undefined ? [] : loaded.settings(cachePathScope, http).paths;
  const caches = paths.map(({ zone }) => new DiskCache(zones.open(zone), worker.log, false));
  const timers = new Set<NodeJS.Timeout>();
  let running = 0;
  const after = (step: Step, ms: number): void => {
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
      const steps = make({ caches, folders: loaded.folders });
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
