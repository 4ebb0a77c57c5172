import { ALERT, NOTICE } from '../../shared/log/level.js';
import { lineOf } from '../../shared/text/error-text.js';
import { removeListeners } from '../cycle/listeners.js';
import { type Master, oldMasterLives } from './master.js';

/** Ends at once: clients are cut off. nginx: ngx_terminate. */
export async function endAtOnce(master: Master): Promise<void> {
  const first = master.ending === undefined;
  master.ending = 'terminate';
  master.canary?.abandon('the server ends');
  master.pool.terminate();
  if (first) {
    await leave(master);
  }
}

/** Ends when the last client is done; no new ones are taken. nginx: ngx_quit. */
export async function quit(master: Master): Promise<void> {
  if (master.ending !== undefined) {
    return;
  }
  master.ending = 'quit';
  master.context.zones.ending();
  master.canary?.abandon('the server ends');
  master.pool.quit('all');
  close(master);
  await leave(master);
}

async function leave(master: Master): Promise<void> {
  await master.pool.empty();
  const { context, control, pidFile, history } = master;
  try {
    history.ended(master.ending === 'quit' ? 'the server was told to quit' : 'the server was told to stop');
    pidFile.remove();
    control.remove();
    context.log.log(NOTICE, 'exit');
    if (master.ending === 'terminate') {
      close(master);
    }
    await pidFile.unlock();
  } catch (error) {
    context.log.log(ALERT, `something is left behind: ${lineOf(error)}`);
  }
  process.exit(0);
}

const closed = new WeakSet<Master>();

/** Closes the sockets; the files of Unix-domain ones stay while another master of an upgrade serves on them. */
function close(master: Master): void {
  if (closed.has(master)) {
    return;
  }
  closed.add(master);
  const { cycle, context, newBinary } = master;
  if (newBinary === undefined && !oldMasterLives(master)) {
    removeListeners(cycle.listeners.values(), context.log);
  }
}
