import type { ChildProcess } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Configuration, ListenSpec } from '../shared/config/configuration.js';
import { CRIT, EMERG, NOTICE } from '../shared/log/level.js';
import { ListenSocket, type SocketHandle } from '../shared/net/listen-socket.js';
import type { Context } from './context.js';
import { ControlSocket, controlPath, type Inheritance, inheritFromOrphans } from './control-socket.js';
import { type Cycle, openCycle } from './cycle.js';
import { inheritedSockets } from './inherited.js';
import { PidFile, runningInstance } from './pid-file.js';
import { reload } from './reload.js';
import { reopen } from './reopen.js';
import { quit, terminate } from './shutdown.js';
import { numberOfSignal, onSignals, type Verb } from './signals.js';
import { upgrade } from './upgrade.js';
import { startLines } from './version.js';
import { WorkerPool } from './workers.js';

/** The master while it runs: what its operations read and change. */
export interface Master {
  readonly context: Context;
  readonly pool: WorkerPool;
  cycle: Cycle;
  pidFile: PidFile;
  control: ControlSocket | undefined;
  /** It runs in the background, so WINCH is no resized terminal. */
  readonly daemonized: boolean;
  /** The workers were sent away by WINCH. */
  noAccepting: boolean;
  /** The process that an upgrade started, while it lives. */
  newBinary: ChildProcess | undefined;
  /** The master that this one was started by to replace it; 0 when there is none. */
  readonly oldMaster: number;
  ending: 'quit' | 'terminate' | undefined;
}

/** How a master starts. */
export interface MasterOptions {
  readonly daemonized: boolean;
  /** Called once every listener accepts and the pid file says so. */
  readonly ready: () => void;
}

/** Starts the master process; resolves once it runs, or to the exit code when it cannot. nginx: main, ngx_master_process_cycle. */
export async function startMaster(context: Context, configuration: Configuration, options: MasterOptions): Promise<number | undefined> {
  const { log, name } = context;
  const { pid } = configuration.process;
  const inherited = inheritedSockets(log);
  const running = runningInstance(pid);
  if (running !== undefined) {
    log.log(EMERG, running);
    return 1;
  }
  const orphans = await inheritFromOrphans(controlPath(pid), log);
  const { held, unused } = heldSockets(configuration.listens, [inherited ?? new Map(), orphans.sockets]);
  const cycle = await openCycle(configuration, context, { held, testing: false });
  if (cycle === undefined) {
    return 1;
  }
  context.zones.commit(cycle.zones);
  for (const handle of unused) {
    handle.close();
  }
  const pidFile = new PidFile(pid, log);
  const pool = new WorkerPool({
    program: fileURLToPath(new URL('worker.js', import.meta.url)),
    name,
    log,
    onEnd: (ended) => context.zones.release(ended),
    onPlanUnused: (plan) => context.zones.retire(plan),
  });
  const master: Master = {
    context,
    pool,
    cycle,
    pidFile,
    control: ControlSocket.open(controlPath(pid), log),
    daemonized: options.daemonized || inherited !== undefined,
    noAccepting: false,
    newBinary: undefined,
    oldMaster: inherited === undefined ? 0 : process.ppid,
    ending: undefined,
  };
  onSignals(context.early, (verb, signal) => act(master, verb, signal));
  // A master whose workers were sent away waits for signals, which alone do not keep a Node process.
  setInterval(() => {}, 2 ** 31 - 1);
  process.on('uncaughtException', (error) => {
    // The workers serve on without a master; with a confused one they are still better off than with none.
    log.log(EMERG, `uncaught exception: ${(error.stack ?? error.message).replaceAll(/\s*\n\s*/g, ' ')}`);
  });
  setTitle(name);
  const problem = await bringUp(master, orphans);
  if (master.ending !== undefined) {
    return undefined;
  }
  if (problem !== undefined) {
    log.log(EMERG, problem);
    pool.terminate();
    await pool.empty();
    master.control?.remove();
    return 1;
  }
  options.ready();
  return undefined;
}

/** Shows the command line as nginx does; the program's folder is left out when the title, which replaces the command line, has no room for it. */
function setTitle(name: string): void {
  const [, program = '', ...args] = process.argv;
  const title = (shown: string): string => [`${name}: master process`, shown, ...args].join(' ');
  process.title = title(program);
  if (process.title !== title(program)) {
    process.title = title(basename(program, '.js'));
  }
}

/** Starts the workers and, while they start, takes the lock; the pid file comes last. Resolves to what went wrong. */
async function bringUp({ context, pool, cycle, control, pidFile }: Master, orphans: Inheritance): Promise<string | undefined> {
  const starting = pool.start({
    configuration: cycle.configuration,
    listeners: cycle.listeners,
    zones: cycle.zones,
    control: control?.fd,
    announce: startLines(),
  });
  try {
    await pidFile.lock();
    const problem = await starting;
    if (problem !== undefined) {
      return problem;
    }
    pidFile.write();
  } catch (error) {
    return (error as Error).message;
  }
  orphans.release();
  context.log.leaveTerminal();
  return undefined;
}

/** Sorts sockets that came from elsewhere into those that the configuration listens on, and the others. */
function heldSockets(
  specs: readonly ListenSpec[],
  sources: readonly ReadonlyMap<string, SocketHandle>[],
): { held: Map<string, ListenSocket>; unused: SocketHandle[] } {
  const held = new Map<string, ListenSocket>();
  const unused: SocketHandle[] = [];
  for (const [key, handle] of sources.flatMap((source) => [...source])) {
    const spec = specs.find((candidate) => candidate.key === key);
    if (spec === undefined || held.has(key)) {
      unused.push(handle);
    } else {
      held.set(key, ListenSocket.from(spec, handle));
    }
  }
  return { held, unused };
}

const ACTIONS: Readonly<Record<Verb, string>> = {
  terminate: ', exiting',
  quit: ', shutting down',
  reload: ', reconfiguring',
  reopen: ', reopening logs',
  upgrade: ', changing binary',
  noaccept: ', stop accepting connections',
};

/** Acts on a signal. nginx: ngx_signal_handler and the loop of ngx_master_process_cycle. */
function act(master: Master, verb: Verb, signal: NodeJS.Signals): void {
  const { log } = master.context;
  const ignored = verb === 'upgrade' && !mayUpgrade(master);
  const action = ignored ? ', ignoring' : verb === 'noaccept' && !master.daemonized ? '' : ACTIONS[verb];
  log.log(NOTICE, `signal ${numberOfSignal(signal)} (${signal}) received${action}`);
  if (ignored) {
    log.log(CRIT, "the changing binary signal is ignored: you should shutdown or terminate before either old or new binary's process");
    return;
  }
  switch (verb) {
    case 'terminate':
      void terminate(master);
      break;
    case 'quit':
      void quit(master);
      break;
    case 'reload':
      reload(master);
      break;
    case 'reopen':
      reopen(master);
      break;
    case 'upgrade':
      void upgrade(master);
      break;
    case 'noaccept':
      if (master.daemonized) {
        master.noAccepting = true;
        master.pool.quit('all');
      }
  }
}

/** Whether neither this master's predecessor nor its successor is running. */
function mayUpgrade(master: Master): boolean {
  return !oldMasterLives(master) && master.newBinary === undefined;
}

/** True while the master that started this one to be replaced by it is there. */
export function oldMasterLives({ oldMaster }: Master): boolean {
  return oldMaster !== 0 && process.ppid === oldMaster;
}
