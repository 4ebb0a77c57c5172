import { basename } from 'node:path';
import type { Configuration, ListenSpec } from '../../shared/config/configuration.js';
import { EMERG } from '../../shared/log/level.js';
import { isStandardError } from '../../shared/log/standard-error.js';
import { giveSpareMemoryBack } from '../../shared/native/spare-memory.js';
import { socketKey } from '../../shared/net/listen-key.js';
import { ListenSocket, type SocketHandle } from '../../shared/net/listen-socket.js';
import { lineOf } from '../../shared/text/error-text.js';
import { startLines } from '../command-line/version.js';
import type { Context } from '../cycle/context.js';
import { type Cycle, openCycle } from '../cycle/cycle.js';
import { removeListeners, socketsOf } from '../cycle/listeners.js';
import { History } from '../history/history.js';
import { tellOperator } from '../history/tell.js';
import { inheritedSockets } from '../processes/inherited.js';
import { ControlFolder, type Inheritance, inheritFromOrphans } from '../processes/orphans.js';
import { PidFile, runningInstance } from '../processes/pid-file.js';
import { onSignals } from '../processes/signals.js';
import { act } from './act.js';
import { type Master, oldMasterLives } from './master.js';
import { WorkerPool } from './workers.js';

/** How a master starts. */
export interface MasterOptions {
  readonly daemonized: boolean;
  /** Called once every listener accepts and the pid file says so. */
  readonly ready: () => void;
}

/** Starts the master process; resolves once it runs, or to the exit code when it cannot. nginx: main, ngx_master_process_cycle. */
export async function startMaster(context: Context, configuration: Configuration, options: MasterOptions): Promise<number | undefined> {
  const { log, zones } = context;
  const { pid } = configuration.process;
  const inherited = inheritedSockets(log);
  const running = runningInstance(pid);
  if (running !== undefined) {
    log.log(EMERG, running);
    return 1;
  }
  const control = new ControlFolder(pid, log);
  const orphans = inherited === undefined ? await inheritFromOrphans(control, log) : undefined;
  const { held, unused } = heldSockets(socketsOf(configuration), [inherited ?? new Map(), orphans?.sockets ?? new Map()]);
  const cycle = await openCycle(configuration, context, { held, testing: false });
  if (cycle === undefined) {
    control.remove();
    return 1;
  }
  zones.commit(cycle.zones);
  for (const handle of unused) {
    handle.close();
  }
  const master = makeMaster(context, cycle, control, { ...options, inherited: inherited !== undefined });
  const shared = (orphans?.sockets.size ?? 0) > 0 || oldMasterLives(master);
  run(master, shared);
  const problem = await bringUp(master, orphans);
  if (master.ending !== undefined) {
    return undefined;
  }
  if (problem !== undefined) {
    log.log(EMERG, problem);
    await giveUp(master, shared);
    return 1;
  }
  master.up = true;
  zones.countLines();
  zones.ready();
  options.ready();
  giveSpareMemoryBack(() => 0, true);
  return undefined;
}

function makeMaster(
  context: Context,
  cycle: Cycle,
  control: ControlFolder,
  { daemonized, inherited }: MasterOptions & { readonly inherited: boolean },
): Master {
  const { log, name, zones, spare } = context;
  const standardError = isStandardError(cycle.configuration.errorLogs, cycle.logFiles);
  const history = new History(log);
  const master: Master = {
    context,
    history,
    cycle,
    candidate: undefined,
    canary: undefined,
    standardError,
    control,
    pidFile: new PidFile(cycle.configuration.process.pid, log),
    pool: new WorkerPool({
      spare,
      name,
      log,
      standardError,
      tell: (question) => tellOperator(question, history, master.cycle.configuration.errorLogs),
      onEnd: (ended) => zones.release(ended),
      onRespawn: () => zones.respawned(),
      onPlanUnused: (plan) => zones.retire(plan),
    }),
    daemonized: daemonized || inherited,
    noAccepting: false,
    newBinary: undefined,
    oldMaster: inherited ? process.ppid : 0,
    ending: undefined,
    up: false,
  };
  return master;
}

/** Makes this process answer signals, stay, and look like a master. `shared`: others serve on its sockets. */
function run(master: Master, shared: boolean): void {
  const { early, log, name } = master.context;
  onSignals(early, (verb, signal) => act(master, verb, signal));
  // A master whose workers were sent away waits for signals, which alone do not keep a Node process.
  setInterval(() => {}, 2 ** 31 - 1);
  process.on('uncaughtException', (error) => {
    // The workers serve on without a master; with a confused one they are still better off than with none.
    log.log(EMERG, `uncaught exception: ${lineOf(error)}`);
    if (!master.up) {
      // One that cannot start says so by its end.
      void giveUp(master, shared).finally(() => process.exit(1));
    }
  });
  setTitle(name);
}

/**
 * Shows the command line as nginx does; the program's folder is left out when the title, which replaces the command line, has no
 * room for it.
 */
function setTitle(name: string): void {
  const [, program = '', ...args] = process.argv;
  const title = (shown: string): string => [`${name}: master process`, shown, ...args].join(' ');
  process.title = title(program);
  if (process.title !== title(program)) {
    process.title = title(basename(program, '.js'));
  }
}

/** Starts the workers and, while they start, takes the lock; the pid file comes last. Resolves to what went wrong. */
async function bringUp(
  { context, pool, cycle, control, pidFile, history }: Master,
  orphans: Inheritance | undefined,
): Promise<string | undefined> {
  const starting = pool.start({
    configuration: cycle.configuration,
    listeners: cycle.listeners,
    zones: cycle.zones,
    control,
    announce: startLines(),
  });
  try {
    await pidFile.lock();
    const problem = await starting;
    if (problem !== undefined) {
      return problem;
    }
    history.started(cycle.configuration);
    pidFile.write();
  } catch (error) {
    return (error as Error).message;
  }
  orphans?.release();
  context.log.leaveTerminal();
  return undefined;
}

/** Leaves nothing behind of a start that failed. `shared`: others serve on its sockets. */
async function giveUp(master: Master, shared: boolean): Promise<void> {
  master.pool.terminate();
  await master.pool.empty();
  master.control.remove();
  if (!shared) {
    removeListeners(master.cycle.listeners.values(), master.context.log);
  }
}

/** Sorts sockets that came from elsewhere into those that the configuration listens on, and the others. */
function heldSockets(
  specs: readonly ListenSpec[],
  sources: readonly ReadonlyMap<string, SocketHandle>[],
): { held: Map<string, ListenSocket>; unused: SocketHandle[] } {
  const held = new Map<string, ListenSocket>();
  const unused: SocketHandle[] = [];
  for (const [key, handle] of sources.flatMap((source) => [...source])) {
    const spec = specs.find((candidate) => socketKey(candidate) === key);
    if (spec === undefined || held.has(key)) {
      unused.push(handle);
    } else {
      held.set(key, ListenSocket.from(spec, handle));
    }
  }
  return { held, unused };
}
