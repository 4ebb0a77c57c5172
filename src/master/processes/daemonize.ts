import { spawn } from 'node:child_process';
import type { Configuration } from '../../shared/config/configuration.js';
import { closeLogFd, type LogFd, openLogFd } from '../../shared/log/log-fd.js';
import { crashLog } from '../../shared/log/standard-error.js';
import { DAEMON } from './daemon-mark.js';
import { programAgain } from './program-again.js';
import { logsToTerminal } from './terminal.js';

/** What the daemon tells the process that started it. */
interface Report {
  /** For the terminal. */
  readonly text?: string;
  readonly ready?: true;
}

/** True in the process that becomes the daemon. Asked once, at its start. */
export function isDaemon(): boolean {
  const marked = process.env[DAEMON] !== undefined;
  delete process.env[DAEMON];
  return marked;
}

/** Passes a text (latin1) on to the terminal, which the daemon itself has no part of. */
export function tellStarter(text: string): void {
  process.send?.({ text } satisfies Report);
}

/** The server is up: the process that started it may end. */
export function releaseStarter(): void {
  if (process.connected) {
    process.send?.({ ready: true } satisfies Report, undefined, {}, () => process.disconnect?.());
  }
}

/**
 * Runs this program again in the background, in a session of its own, and waits until it is up; resolves to the exit code. Node cannot
 * fork. nginx: ngx_daemon.
 */
export function daemonize(configuration: Configuration, write: (text: string) => void): Promise<number> {
  const log = standardError(configuration);
  const child = spawn(process.execPath, [...programAgain(), ...process.argv.slice(2)], {
    detached: true,
    stdio: ['ignore', 'ignore', log?.fd ?? 'inherit', 'ipc'],
    env: { ...process.env, [DAEMON]: '1' },
    // Room for the title, which replaces the command line where it stands.
    argv0: process.argv0.padEnd(40),
  });
  if (log !== undefined) {
    closeLogFd(log);
  }
  return new Promise((done) => {
    child.on('message', (report: Report) => {
      if (report.text !== undefined) {
        write(report.text);
      }
      if (report.ready) {
        done(0);
      }
    });
    child.on('error', (error) => {
      write(`${error.message}\n`);
      done(1);
    });
    child.on('exit', (code) => done(code ?? 1));
  });
}

/** Where crashes of the daemon leave their traces: its first error log that is a file. nginx: ngx_log_redirect_stderr. */
function standardError(configuration: Configuration): LogFd | undefined {
  if (logsToTerminal(configuration)) {
    return undefined;
  }
  try {
    return openLogFd(crashLog(configuration.errorLogs) ?? '/dev/null');
  } catch {
    // The daemon will say so itself.
    return openLogFd('/dev/null');
  }
}
