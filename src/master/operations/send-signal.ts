import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fsPath } from '../../shared/files/fs-path.js';
import { ALERT, ERROR, NOTICE } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import { numberOfSignal } from '../../shared/system/signal.js';
import type { SignalName } from '../command-line/cli.js';
import type { MasterLog } from '../cycle/master-log.js';
import { isRunning, type ReloadReport, readRecord, type ServiceRecord } from '../history/record.js';
import { askedBy, leaveRequest, newToken } from '../history/requests.js';

const SIGNALS: Readonly<Record<SignalName, NodeJS.Signals>> = { stop: 'SIGTERM', quit: 'SIGQUIT', reopen: 'SIGUSR1', reload: 'SIGHUP' };

/** How long a reload may take beside the time of its canary (milliseconds), and how often its outcome is looked for. */
const PATIENCE = 60_000;
const LOOK = 50;

/** Which server is meant, and what is known of it. Paths are full and latin1. */
export interface SignalTarget {
  readonly pid: string;
  /** The folder of the configurations that served; undefined when none are kept. */
  readonly history: string | undefined;
  /** The configuration file that was named. */
  readonly entry: string;
  /** Milliseconds that a canary of the new configuration takes; undefined where nobody waits for the outcome of a reload. */
  readonly wait: number | undefined;
}

/** Sends a signal to the master that the pid file names; returns the exit code. nginx: ngx_signal_process. */
export async function sendSignal(name: SignalName, target: SignalTarget, log: MasterLog): Promise<number> {
  log.log(NOTICE, 'signal process started');
  const { pid: path, history } = target;
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
  const record = name === 'reload' ? recordOf(Number(digits), history) : undefined;
  if (record !== undefined && record.entry !== target.entry) {
    log.say(`[warn] the running server serves ${record.entry}, and reloads that file, not ${target.entry}`);
  }
  if (target.wait !== undefined && record === undefined) {
    log.say('the server is not told to reload: "--wait" needs a running server that keeps its configurations ("configuration_history")');
    return 1;
  }
  const request = name === 'reload' && history !== undefined ? sayWhoAsks(history) : undefined;
  if (target.wait !== undefined && request === undefined) {
    log.say(`the server is not told to reload: "${history}" cannot be written, so that its answer would not be known`);
    return 1;
  }
  try {
    process.kill(Number(digits), SIGNALS[name]);
  } catch (error) {
    request?.takeBack();
    log.log(ALERT, `kill(${digits}, ${numberOfSignal(SIGNALS[name])}) failed (${errnoText(error)})`);
    return 1;
  }
  return target.wait === undefined ? 0 : outcomeOf(request!.token, history!, PATIENCE + target.wait, log);
}

/** What the master with this number says of itself; undefined where it says nothing. */
function recordOf(pid: number, history: string | undefined): ServiceRecord | undefined {
  const record = history === undefined ? undefined : readRecord(history);
  return record !== undefined && record.master === pid && isRunning(record) ? record : undefined;
}

/** Waits for what becomes of a reload, says it, and resolves to the exit code. */
async function outcomeOf(token: string, history: string, patience: number, log: MasterLog): Promise<number> {
  let told: ReloadReport['outcome'] | undefined;
  for (let waited = 0; waited < patience; waited += LOOK) {
    const record = readRecord(history);
    const reload = record?.reload;
    if (record !== undefined && reload?.tokens.includes(token) && reload.outcome !== told) {
      told = reload.outcome;
      const text = reload.text === '' ? '' : `: ${reload.text}`;
      switch (told) {
        case 'running':
          log.say(`reloading${text}`);
          break;
        case 'done':
          log.say(`the new configuration serves${text}`);
          return 0;
        default:
          log.say(`the reload was refused, and the configuration of before serves${text}`);
          return 1;
      }
    }
    if (record !== undefined && !isRunning(record)) {
      log.say('the server has ended');
      return 1;
    }
    await sleep(LOOK);
  }
  log.say(`the server has not said in ${Math.round(patience / 1000)} seconds what became of the reload; its error log says more`);
  return 1;
}

/** Leaves word of who asks for a reload, which the signal does not tell. Where that is impossible, the reload comes without. */
function sayWhoAsks(history: string): { readonly token: string; readonly takeBack: () => void } | undefined {
  const token = newToken();
  try {
    return { token, takeBack: leaveRequest(history, { token, at: Date.now(), by: askedBy() }) };
  } catch {
    return undefined;
  }
}
