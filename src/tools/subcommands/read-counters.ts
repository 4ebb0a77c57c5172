import { readdirSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { EMERG } from '../../shared/log/level.js';
import { counterZone, type WorkerTotals } from '../../shared/zone/counters.js';
import type { ZoneRef } from '../../shared/zone/kind.js';
import { withRights } from '../../shared/zone/run-directory.js';
import { SqliteZoneStore } from '../../shared/zone/store.js';
import { zoneFileName } from '../../shared/zone/zone-set.js';

/** No worker has this number: whoever only reads has no numbers of its own. */
const NOBODY = -1;

/** The counters of a running service by the run directory of its zones, which `uid` owns. Undefined when there are none. */
export function readCounters(directory: string, uid: number): WorkerTotals[] | undefined {
  return readZone(directory, uid, counterZone, (counters) => counters.perWorker().filter(({ worker }) => worker !== NOBODY));
}

/** Works with a zone of a running service from outside, in the same way; after a reload that made the zone anew, the newest one. */
export function readZone<Z, D, T>(directory: string, uid: number, ref: ZoneRef<Z, D>, read: (zone: Z) => T): T | undefined {
  return withRights(process.geteuid?.() === 0 ? uid : undefined, () => {
    const begin = `${zoneFileName(ref.name)}-`;
    const numbers = readdirSync(fsPath(directory), 'latin1').flatMap((name) => {
      const number = name.startsWith(begin) ? /^\d+(?=\.)/.exec(name.slice(begin.length))?.[0] : undefined;
      return number === undefined ? [] : [Number(number)];
    });
    if (numbers.length === 0) {
      return undefined;
    }
    const plan = { directory, files: { [ref.name]: begin + Math.max(...numbers) } };
    const store = new SqliteZoneStore(plan, [ref], NOBODY, { level: EMERG, log: () => {} });
    const result = read(store.open(ref));
    store.close();
    return result;
  });
}
