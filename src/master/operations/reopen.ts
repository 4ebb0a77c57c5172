import { NOTICE } from '../../shared/log/level.js';
import { workerUid } from '../cycle/cycle.js';
import type { Master } from './master.js';

/** Opens all log files anew, here and then in the workers, whose user they are given to. nginx: ngx_reopen_files. */
export function reopen({ context, cycle, pool }: Master): void {
  context.log.log(NOTICE, 'reopening logs');
  cycle.logFiles.reopenAll(workerUid(cycle.configuration));
  pool.reopen();
}
