import { readFileSync } from 'node:fs';
import type { Configuration } from '../../shared/config/configuration.js';
import { errnoText } from '../../shared/lib/errno.js';
import { fsPath } from '../../shared/lib/fs-path.js';
import { numberOfSignal } from '../../shared/lib/signal.js';
import { ALERT, ERROR, NOTICE } from '../../shared/log/level.js';
import type { SignalName } from '../command-line/cli.js';
import type { MasterLog } from '../cycle/master-log.js';
import { askedBy, leaveRequest, newToken } from '../history/requests.js';

const SIGNALS: Readonly<Record<SignalName, NodeJS.Signals>> = { stop: 'SIGTERM', quit: 'SIGQUIT', reopen: 'SIGUSR1', reload: 'SIGHUP' };

/** Sends a signal to the master that the pid file names; returns the exit code. nginx: ngx_signal_process. */
export function sendSignal(name: SignalName, { process: { pid: path, history } }: Configuration, log: MasterLog): number {
  log.log(NOTICE, 'signal process started');
  let text: string;
  try {
    text = readFileSync(fsPath(path), 'latin1');
  } catch (error) {
    log.log(ERROR, `open() "${path}" failed (${errnoText(error)})`);
    return 1;
  }
  const digits = text.replace(/[\r\n]+$/, '');
  if (!/^\d+$/.test(digits)) {
    log.log(ERROR, `invalid PID number "${digits}" in "${path}"`);
    return 1;
  }
  const takeBack = name === 'reload' && history !== undefined ? sayWhoAsks(history) : undefined;
  try {
    process.kill(Number(digits), SIGNALS[name]);
    return 0;
  } catch (error) {
    takeBack?.();
    log.log(ALERT, `kill(${digits}, ${numberOfSignal(SIGNALS[name])}) failed (${errnoText(error)})`);
    return 1;
  }
}

/** Leaves word of who asks for a reload, which the signal does not tell. Where that is impossible, the reload comes without. */
function sayWhoAsks(history: string): (() => void) | undefined {
  try {
    return leaveRequest(history, { token: newToken(), at: Date.now(), by: askedBy() });
  } catch {
    return undefined;
  }
}
