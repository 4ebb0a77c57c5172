import type { ChildProcess } from 'node:child_process';
import type { Context } from '../cycle/context.js';
import type { Cycle } from '../cycle/cycle.js';
import type { History } from '../history/history.js';
import type { ControlFolder } from '../processes/orphans.js';
import type { PidFile } from '../processes/pid-file.js';
import type { WorkerPool } from './workers.js';

/** The master while it runs: what its operations read and change. */
export interface Master {
  readonly context: Context;
  readonly pool: WorkerPool;
  readonly history: History;
  cycle: Cycle;
  /** The configuration of which a reload has begun to serve; undefined while none does. */
  candidate: Cycle | undefined;
  /** The canary that nobody has decided about. */
  canary: { abandon(why: string): void } | undefined;
  /** Descriptor 2 leads to the error log, and follows it. */
  readonly standardError: boolean;
  pidFile: PidFile;
  readonly control: ControlFolder;
  /** The master runs in the background, so WINCH is no resized terminal. */
  readonly daemonized: boolean;
  /** The workers were sent away by WINCH. */
  noAccepting: boolean;
  /** The process that an upgrade started, while it lives. */
  newBinary: ChildProcess | undefined;
  /** The master that this one was started by to replace it; 0 when there is none. */
  readonly oldMaster: number;
  ending: 'quit' | 'terminate' | undefined;
  /** Every listener accepts, or has: what goes wrong from then on is no reason to end. */
  up: boolean;
}

/** True while the master that started this one to be replaced by it is there. */
export function oldMasterLives({ oldMaster }: Master): boolean {
  return oldMaster !== 0 && process.ppid === oldMaster;
}
