// What runs in the watchdog's thread: looks whether the worker's own thread still beats, and ends the worker if it does not.
import { constants, openSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { parentPort, workerData } from 'node:worker_threads';
import { ALERT } from '../../../shared/log/level.js';
import { jsonLine, textLine } from '../../../shared/log/log-line.js';
import { turnDelay } from '../../../shared/system/turn-delay.js';
import { BEAT, HANDLER, NOBODY, type WatchdogData } from './watchdog-data.js';

const { state, interval, allowed, logs } = workerData as WatchdogData;
/** Milliseconds that the question may take. */
const MOST_MS = 2000;

const names: string[] = [];
let lastBeat = -1;
let missed = 0;
/** Milliseconds that the worker's thread, whose number is the process's, had waited for a processor at its last beat. */
let delayAtBeat = 0;
let ended = false;
/** The worker has begun to serve: how long its start takes is not for us to judge. */
let started = false;

parentPort!.on('message', (name: string) => names.push(name));

setInterval(() => {
  const beat = Atomics.load(state, BEAT);
  started ||= beat !== 0 || Atomics.load(state, HANDLER) !== NOBODY;
  const delay = turnDelay(process.pid);
  if (beat === lastBeat && started) {
    missed++;
  } else {
    missed = 0;
    delayAtBeat = delay;
  }
  lastBeat = beat;
  // Counted in looks of this thread: a process that the system has stopped for a while has not been looked at. Time in which the worker
  // wanted to run, and others had the processors, is not its script's.
  if (missed * interval - (delay - delayAtBeat) >= allowed && !ended) {
    ended = true;
    place(end);
  }
}, interval);

/** Says which handler it was, and ends the process; the master starts another one. */
function end(where: string): void {
  const name = names[Atomics.load(state, HANDLER)];
  const who = name === undefined ? 'JavaScript' : `js handler "${name}"`;
  const message = `${who} has held the worker for more than ${allowed} ms${where}, ending the worker`;
  for (const { path, fd, json } of logs) {
    const line = Buffer.from((json ? jsonLine : textLine)(ALERT, message, undefined), 'latin1');
    try {
      if (path === '') {
        writeSync(fd, line);
      } else {
        // By its name, as the file may have been rotated; one that is not there is not this process's to make.
        writeSync(openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK), line);
      }
    } catch {
      try {
        writeSync(fd, line);
      } catch {
        // The process ends for a reason that nobody can be told.
      }
    }
  }
  process.kill(process.pid, 'SIGKILL');
}

/** Finds out what the other thread runs, as text that follows a message; empty if it does not say. */
function place(then: (where: string) => void): void {
  const late = setTimeout(then, MOST_MS, '');
  try {
    const session = new Session();
    session.connectToMainThread();
    const urls = new Map<string, string>();
    session.on('Debugger.scriptParsed', ({ params }) => void urls.set(params.scriptId, params.url));
    session.on('Debugger.paused', ({ params }) => {
      clearTimeout(late);
      const frame = params.callFrames[0];
      const url = urls.get(frame?.location.scriptId ?? '') ?? '';
      const { functionName = '', location } = frame ?? {};
      const at = `${url.replace(/^file:\/\//, '')}:${(location?.lineNumber ?? 0) + 1}`;
      then(frame === undefined ? '' : ` at ${functionName === '' ? at : `${functionName} (${at})`}`);
    });
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  } catch {
    // A build of Node without its inspector.
  }
}
