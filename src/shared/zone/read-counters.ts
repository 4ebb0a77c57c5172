import { readdirSync } from 'node:fs';
import { fsPath } from '../lib/fs-path.js';
import { EMERG } from '../log/level.js';
import { counterZone, type WorkerTotals } from './counters.js';
import { withRights } from './run-directory.js';
import { SqliteZoneStore } from './store.js';

/** No worker has this number: whoever only reads has no numbers of its own. */
const NOBODY = -1;

/** The counters of a running service by the run directory of its zones, which `uid` owns. Undefined when there are none. */
export function readCounters(directory: string, uid: number): WorkerTotals[] | undefined {
  return withRights(process.geteuid?.() === 0 ? uid : undefined, () => {
    const file = readdirSync(fsPath(directory), 'latin1').find((name) => /^_counters-\d+\./.test(name));
    if (file === undefined) {
      return undefined;
    }
    const plan = { directory, files: { [counterZone.name]: file.replace(/\..*/, '') } };
    const store = new SqliteZoneStore(plan, [counterZone], NOBODY, { level: EMERG, log: () => {} });
    const rows = store.open(counterZone).perWorker();
    store.close();
    return rows.filter(({ worker }) => worker !== NOBODY);
  });
}
