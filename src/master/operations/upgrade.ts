import { type ChildProcess, spawn } from 'node:child_process';
import { ALERT, NOTICE } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import { numberOfSignal } from '../../shared/system/signal.js';
import { INHERITED } from '../processes/inherited-mark.js';
import { programAgain } from '../processes/program-again.js';
import type { Master } from './master.js';
import { restartWorkers } from './reload.js';

/** First descriptor after the standard ones. */
const FIRST_FD = 3;

/**
 * Starts the program that now stands where this one was started from, with the same arguments and the open sockets. Both serve until one of
 * them is told to end; when the new one ends, everything is as before. nginx: ngx_exec_new_binary.
 */
export function upgrade(master: Master): void {
  const { context, cycle, pidFile } = master;
  const { log } = context;
  log.log(NOTICE, 'changing binary');
  const { path } = pidFile;
  const old = `${path}.oldbin`;
  const program = process.execPath;
  const args = [...programAgain(), ...process.argv.slice(2)];
  try {
    pidFile.rename(old);
  } catch (error) {
    log.log(ALERT, `rename() ${path} to ${old} failed before executing new binary process "${process.argv[1]}" (${errnoText(error)})`);
    return;
  }
  const sockets = [...cycle.listeners.values()];
  const failed = (error: unknown): void => {
    log.log(ALERT, `execve() failed while executing new binary process "${program}" (${errnoText(error)})`);
    takeBack(master, path);
  };
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      stdio: [0, 1, 2, ...sockets.map(({ fd }) => fd)],
      env: { ...process.env, [INHERITED]: sockets.map((_, i) => `${FIRST_FD + i};`).join('') },
      // Room for the title, which replaces the command line where it stands.
      argv0: process.argv0.padEnd(40),
    });
  } catch (error) {
    // Node throws some of the system's errors, and reports others later.
    failed(error);
    return;
  }
  master.newBinary = child;
  if (child.pid !== undefined) {
    log.log(NOTICE, `start new binary process ${child.pid}`);
  }
  child.on('error', failed);
  child.on('exit', (code, signal) => {
    if (signal === null) {
      log.log(NOTICE, `new binary process ${child.pid} exited with code ${code}`);
    } else {
      log.log(ALERT, `new binary process ${child.pid} exited on signal ${numberOfSignal(signal)}`);
    }
    takeBack(master, path);
  });
}

/** The new master ended: its name, and its work, are this one's again. nginx: ngx_reap_children. */
function takeBack(master: Master, path: string): void {
  const { pidFile, context } = master;
  const old = pidFile.path;
  if (old === path) {
    return;
  }
  master.newBinary = undefined;
  try {
    pidFile.rename(path);
  } catch (error) {
    context.log.log(
      ALERT,
      `rename() ${old} back to ${path} failed after the new binary process "${process.argv[1]}" exited (${errnoText(error)})`,
    );
  }
  if (master.noAccepting && master.ending === undefined) {
    restartWorkers(master);
  }
}
