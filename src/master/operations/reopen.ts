import { NOTICE } from '../../shared/log/level.js';
import { workerUid } from '../cycle/worker-uid.js';
import type { Master } from './master.js';
import { isReloading } from './reload.js';
import { followErrorLog } from './standard-error.js';

/** Reopens all log files, here and then in the workers. The files are given to the workers' user. nginx: ngx_reopen_files. */
export function reopen(master: Master): void {
  const { context, cycle, candidate, pool } = master;
  context.log.log(NOTICE, 'reopening logs');
  cycle.logFiles.reopenAll(workerUid(cycle.configuration));
  candidate?.logFiles.reopenAll(workerUid(candidate.configuration));
  pool.reopen();
  // A reload does that at its end: the threads that look names up for it open descriptors.
  if (!isReloading(master)) {
    followErrorLog(master);
  }
}
