import { mkdirSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { HANDED_OVER, LET_GO } from '../../shared/ipc/messages.js';
import { errnoCode, errnoText } from '../../shared/lib/errno.js';
import { fsPath } from '../../shared/lib/fs-path.js';
import { setTimer } from '../../shared/lib/timer.js';
import type { Logger } from '../../shared/log/error-log.js';
import { INFO, NOTICE } from '../../shared/log/level.js';
import { HandlePipe } from '../../shared/net/handle-pipe.js';
import type { SocketHandle } from '../../shared/net/listen-socket.js';
import { keepSocket } from './inherited.js';

/** Milliseconds that a worker may take to hand its sockets over. */
const HANDOVER_TIMEOUT = 2_000;

/**
 * The folder beside a pid file in which every worker keeps a socket named by its process id. A worker listens there only when its master is
 * gone, so that a new master can reach it.
 */
export class ControlFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /**
   * Makes the folder, for this user only; undefined when that is impossible, which the log says: then nobody can take over from a
   * killed master.
   */
  static make(pidPath: string, log: Logger): ControlFolder | undefined {
    const path = `${pidPath}.workers`;
    try {
      mkdirSync(fsPath(path), 0o700);
    } catch (error) {
      if (errnoCode(error) !== 'EEXIST') {
        log.log(INFO, `mkdir() "${path}" failed (${errnoText(error)})`);
        return undefined;
      }
    }
    return new ControlFolder(path);
  }

  /** Removes the folder, unless another master's workers are in it. */
  remove(): void {
    try {
      rmdirSync(fsPath(this.path));
    } catch {
      // It is in use, or gone.
    }
  }
}

/** Removes the socket of a worker that has ended. */
export function removeControl(folder: string, pid: number): void {
  try {
    unlinkSync(fsPath(`${folder}/${pid}`));
  } catch {
    // It ended before it made one.
  }
}

/** What workers of a dead master handed over. */
export interface Inheritance {
  readonly sockets: ReadonlyMap<string, SocketHandle>;
  /** Tells those workers that they are no longer needed. Until then, and when it never happens, they serve on. */
  release(): void;
}

/** Asks all workers of a dead master for their sockets. Workers whose master is alive do not answer. */
export async function inheritFromOrphans({ path }: ControlFolder, log: Logger): Promise<Inheritance> {
  const sockets = new Map<string, SocketHandle>();
  const names = readdirSync(fsPath(path)).filter((name) => /^\d+$/.test(name));
  const pipes = (await Promise.all(names.map((name) => collect(path, Number(name), sockets)))).filter((pipe) => pipe !== undefined);
  if (pipes.length > 0) {
    log.log(NOTICE, `taking over from ${pipes.length} worker processes whose master is gone`);
  }
  return {
    sockets,
    release() {
      for (const pipe of pipes) {
        pipe.send(LET_GO);
      }
    },
  };
}

/** Collects the sockets of one worker; undefined when it does not answer. */
function collect(folder: string, pid: number, sockets: Map<string, SocketHandle>): Promise<HandlePipe | undefined> {
  return new Promise((done) => {
    let connected: HandlePipe | undefined;
    const finish = (pipe: HandlePipe | undefined): void => {
      clearTimeout(timer);
      done(pipe);
    };
    const timer = setTimer(() => {
      connected?.close();
      finish(undefined);
    }, HANDOVER_TIMEOUT);
    const events = {
      handle: (handle: SocketHandle) => keepSocket(sockets, handle),
      text(text: string): void {
        if (text.endsWith(HANDED_OVER)) {
          finish(connected);
        }
      },
      end: () => finish(undefined),
    };
    HandlePipe.connect(`${folder}/${pid}`, events, (result) => {
      if (typeof result !== 'number') {
        connected = result;
        return;
      }
      if (!isAlive(pid)) {
        removeControl(folder, pid);
      }
      finish(undefined);
    });
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoCode(error) === 'EPERM';
  }
}
