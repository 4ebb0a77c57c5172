import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Configuration, Snapshot } from '../../shared/config/configuration.js';
import { fsPath } from '../../shared/files/fs-path.js';
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

/** What the mark says when the process that started the daemon has read pipes. */
const PIPES = 'pipes';

/** How a process is told that it becomes the daemon. */
export interface DaemonStart {
  /** What its starter has read from pipes; undefined when there were none. */
  piped(): Promise<Snapshot['named'] | undefined>;
}

/** Undefined unless this process becomes the daemon. Asked once, at its start. */
export function daemonStart(): DaemonStart | undefined {
  const mark = process.env[DAEMON];
  delete process.env[DAEMON];
  return mark === undefined ? undefined : { piped: () => (mark === PIPES ? heard() : Promise.resolve(undefined)) };
}

/** What the starter sends; undefined when it is gone. */
function heard(): Promise<Snapshot['named'] | undefined> {
  return new Promise((done) => {
    const gone = (): void => done(undefined);
    process.once('disconnect', gone);
    process.once('message', (piped: Snapshot['named']) => {
      process.off('disconnect', gone);
      done(piped);
    });
  });
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
  const piped = pipedTexts(configuration);
  const child = spawn(process.execPath, [...programAgain(), ...process.argv.slice(2)], {
    detached: true,
    stdio: ['ignore', 'ignore', log?.fd ?? 'inherit', 'ipc'],
    env: { ...process.env, [DAEMON]: piped === undefined ? '1' : PIPES },
    // Room for the title, which replaces the command line where it stands.
    argv0: process.argv0.padEnd(40),
  });
  if (log !== undefined) {
    closeLogFd(log);
  }
  if (piped !== undefined) {
    // Where the daemon is gone, its end says so.
    child.send(piped, () => {});
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

/** The files of a configuration that the daemon could not read again; undefined when there are none. */
function pipedTexts({ snapshot: { named } }: Configuration): Snapshot['named'] | undefined {
  const piped = Object.entries(named).filter(([path]) => isPipe(path));
  return piped.length === 0 ? undefined : Object.fromEntries(piped);
}

function isPipe(path: string): boolean {
  try {
    return statSync(fsPath(path)).isFIFO();
  } catch {
    return false;
  }
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
