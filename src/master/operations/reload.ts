import { EMERG, NOTICE, WARN } from '../../shared/log/level.js';
import { type Cycle, closeLogs, openCycle } from '../cycle/cycle.js';
import { closeListeners, removeListeners } from '../cycle/listeners.js';
import { PidFile } from '../processes/pid-file.js';
import { logsToTerminal } from '../processes/terminal.js';
import { loadAsked } from './load-asked.js';
import type { Master } from './master.js';
import { followErrorLog } from './standard-error.js';

/** The reload that runs, and whether another one was asked for meanwhile. */
const running = new WeakMap<Master, { again: boolean }>();

/**
 * Takes over the configuration as it is now. A reload that is asked for while another one runs follows it. Old workers are told to leave
 * only once every new one accepts; anything that fails before that leaves everything as it was.
 */
export function reload(master: Master): void {
  const current = running.get(master);
  if (current !== undefined) {
    current.again = true;
    return;
  }
  const state = { again: true };
  running.set(master, state);
  void (async () => {
    while (state.again && master.ending === undefined) {
      state.again = false;
      await (master.newBinary === undefined ? reloadOnce(master) : startAgain(master));
    }
    running.delete(master);
    followErrorLog(master);
  })();
}

/** True while a reload runs. */
export function isReloading(master: Master): boolean {
  return running.has(master);
}

async function reloadOnce(master: Master): Promise<void> {
  const { context, pool, control, history } = master;
  const { log } = context;
  log.log(NOTICE, 'reconfiguring');
  const previous = master.cycle;
  const asked = history.take();
  log.forget();
  const configuration = await loadAsked(context, previous.configuration, history, asked);
  if (configuration === undefined || master.ending !== undefined) {
    history.refused(asked, log.reason);
    return;
  }
  if (configuration.process.lockFile !== previous.configuration.process.lockFile) {
    log.log(EMERG, '"lock_file" could not be changed, ignored');
  }
  const cycle = await openCycle(configuration, context, { held: previous.listeners, previous, testing: false });
  if (cycle === undefined) {
    history.refused(asked, log.reason);
    return;
  }
  // The end may have been asked for while a port in use was tried again.
  if (master.ending !== undefined) {
    discard(cycle, previous);
    return;
  }
  const problem = await pool.start({ configuration, listeners: cycle.listeners, zones: cycle.zones, control: control?.path });
  if (problem !== undefined || master.ending !== undefined) {
    if (problem !== undefined && master.ending === undefined) {
      log.log(EMERG, problem);
    }
    history.refused(asked, problem ?? log.reason);
    discard(cycle, previous);
    return;
  }
  master.cycle = cycle;
  context.zones.commit(cycle.zones);
  master.noAccepting = false;
  log.use(cycle.log, logsToTerminal(configuration));
  await movePidFile(master, previous);
  history.replaced(configuration, asked, '');
  pool.quit('old');
  closeUnused(cycle, previous, master);
  closeLogs(previous);
}

/** Brings back the workers of the configuration that is in force, as HUP does to a master that was being replaced. */
async function startAgain(master: Master): Promise<void> {
  const { cycle, pool, control, context } = master;
  master.noAccepting = false;
  const problem = await pool.start({
    configuration: cycle.configuration,
    listeners: cycle.listeners,
    zones: cycle.zones,
    control: control?.path,
  });
  if (problem !== undefined) {
    context.log.log(EMERG, problem);
  }
}

/** Brings the workers back after the new master of an upgrade failed. */
export function restartWorkers(master: Master): void {
  void startAgain(master);
}

/** Closes what a cycle that never began to serve had opened. */
function discard(cycle: Cycle, previous: Cycle): void {
  closeListeners([...cycle.listeners.values()].filter((socket) => !previous.listeners.has(socket.spec.key)));
  closeLogs(cycle);
}

function closeUnused(cycle: Cycle, previous: Cycle, master: Master): void {
  const { log } = master.context;
  const unused = [...previous.listeners].filter(([key]) => !cycle.listeners.has(key)).map(([, socket]) => socket);
  for (const { spec } of unused) {
    if (spec.family === 'unix') {
      log.log(WARN, `deleting socket ${spec.address}`);
    }
  }
  removeListeners(unused, log);
}

/** nginx: the pid file of a new name is made, and the old one removed, in ngx_init_cycle. */
async function movePidFile(master: Master, previous: Cycle): Promise<void> {
  const { pid } = master.cycle.configuration.process;
  if (pid === previous.configuration.process.pid) {
    return;
  }
  const { log } = master.context;
  const fresh = new PidFile(pid, log);
  try {
    await fresh.lock();
    fresh.write();
  } catch (error) {
    log.log(EMERG, (error as Error).message);
    return;
  }
  master.pidFile.remove();
  await master.pidFile.unlock();
  master.pidFile = fresh;
}
