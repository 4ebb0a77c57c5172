import { EMERG, NOTICE, WARN } from '../../shared/log/level.js';
import type { ListenSocket } from '../../shared/net/listen-socket.js';
import { lineOf } from '../../shared/text/error-text.js';
import { type Cycle, closeLogs, openCycle } from '../cycle/cycle.js';
import { closeListeners, removeListeners } from '../cycle/listeners.js';
import type { AskedReload } from '../history/history.js';
import { PidFile } from '../processes/pid-file.js';
import { logsToTerminal } from '../processes/terminal.js';
import { type CanaryResult, startByCanary } from './canary.js';
import { loadAsked } from './load-asked.js';
import type { Master } from './master.js';
import { followErrorLog } from './standard-error.js';
import type { GenerationSpec } from './workers.js';

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
    master.canary?.abandon('another reload was asked for');
    return;
  }
  const state = { again: true };
  running.set(master, state);
  void (async () => {
    while (state.again && master.ending === undefined) {
      state.again = false;
      try {
        await (master.newBinary === undefined ? reloadOnce(master) : startAgain(master));
      } catch (error) {
        // What the system refused is no reason to refuse the next reload.
        master.context.log.log(EMERG, `the reload failed: ${lineOf(error)}`);
        master.context.zones.refused();
      }
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
    refuse(master, asked, log.reason);
    return;
  }
  if (configuration.process.lockFile !== previous.configuration.process.lockFile) {
    log.log(EMERG, '"lock_file" could not be changed, ignored');
  }
  const cycle = await openCycle(configuration, context, { held: previous.listeners, previous, testing: false });
  if (cycle === undefined) {
    refuse(master, asked, log.reason);
    return;
  }
  // The end may have been asked for while a port in use was tried again.
  if (master.ending !== undefined) {
    discard(cycle, previous);
    return;
  }
  const spec = { configuration, listeners: cycle.listeners, zones: cycle.zones, control };
  master.candidate = cycle;
  const result = await startWorkers(master, spec, asked);
  master.candidate = undefined;
  if ('refusal' in result || master.ending !== undefined) {
    if ('refusal' in result && master.ending === undefined) {
      log.log(result.refusal.level, result.refusal.text);
    }
    refuse(master, asked, 'refusal' in result ? result.refusal.text : 'the server ends');
    discard(cycle, previous);
    return;
  }
  if (result.text !== '') {
    log.log(NOTICE, result.text);
  }
  master.cycle = cycle;
  context.zones.commit(cycle.zones);
  master.noAccepting = false;
  log.use(cycle.log, logsToTerminal(configuration));
  await movePidFile(master, previous);
  history.replaced(configuration, asked, result.text);
  const unused = [...previous.listeners].filter(([key]) => !cycle.listeners.has(key));
  pool.quit(
    'old',
    unused.map(([key]) => key),
  );
  closeUnused(
    unused.map(([, socket]) => socket),
    master,
  );
  closeLogs(previous);
}

/** The configuration of before stays: whoever asked, and who watches the metrics, is to know. */
function refuse({ history, context, ending }: Master, asked: AskedReload, text: string): void {
  history.refused(asked, text);
  if (ending === undefined) {
    context.zones.refused();
  }
}

/** Starts the workers of a new configuration, all at once or by way of a canary. A rollback is in a hurry. */
async function startWorkers(master: Master, spec: GenerationSpec, asked: AskedReload): Promise<CanaryResult> {
  if (spec.configuration.process.canary !== undefined && asked.rollback === undefined) {
    const result = await startByCanary(master, spec, master.cycle, asked);
    if (result !== undefined) {
      return result;
    }
    master.context.log.log(NOTICE, 'there is nothing to compare a canary with, so all new workers start at once');
  }
  const problem = await master.pool.start(spec);
  return problem === undefined ? { text: '' } : { refusal: { level: EMERG, text: problem } };
}

/** Brings back the workers of the configuration that is in force, as HUP does to a master that was being replaced. */
async function startAgain(master: Master): Promise<void> {
  const { cycle, pool, control, context } = master;
  master.noAccepting = false;
  const problem = await pool.start({
    configuration: cycle.configuration,
    listeners: cycle.listeners,
    zones: cycle.zones,
    control,
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
  closeListeners([...cycle.listeners].filter(([key]) => !previous.listeners.has(key)).map(([, socket]) => socket));
  closeLogs(cycle);
}

function closeUnused(unused: readonly ListenSocket[], master: Master): void {
  const { log } = master.context;
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
