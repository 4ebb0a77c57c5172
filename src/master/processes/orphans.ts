import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { PrivateFolder } from '../../shared/files/private-folder.js';
import { HANDED_OVER, LET_GO } from '../../shared/ipc/messages.js';
import type { Logger } from '../../shared/log/error-log.js';
import { NOTICE, WARN } from '../../shared/log/level.js';
import { HandlePipe } from '../../shared/net/handle-pipe.js';
import type { SocketHandle } from '../../shared/net/listen-socket.js';
import { errnoCode, errnoText } from '../../shared/system/errno.js';
import { processStat } from '../../shared/system/process-stat.js';
import { setTimer } from '../../shared/time/timer.js';
import { keepSocket } from './inherited.js';

/** Milliseconds that a worker may take to hand its sockets over. */
const HANDOVER_TIMEOUT = 2_000;

/**
 * The folder beside a pid file in which every worker keeps a socket named by its process id. A worker listens there only when its master is
 * gone, so that a new master can reach it. Whoever may write into the folder can give a new master sockets, so it is this user's alone.
 */
export class ControlFolder {
  readonly #path: string;
  readonly #log: Logger;
  #folder: PrivateFolder | undefined;

  /** Makes the folder. Where that is impossible, which the log says, nobody can take over from a killed master. */
  constructor(pidPath: string, log: Logger) {
    this.#path = `${pidPath}.workers`;
    this.#log = log;
    this.#make();
  }

  /** The folder for a worker that is about to start; made anew if somebody has removed it. Undefined when there can be none. */
  current(): PrivateFolder | undefined {
    if (this.#folder !== undefined && !this.#folder.isInPlace) {
      this.#folder.close();
      this.#make();
    }
    return this.#folder;
  }

  /** The numbers of the processes that have a socket here. */
  pids(): number[] {
    if (this.#folder === undefined) {
      return [];
    }
    return readdirSync(fsPath(this.#folder.within()), 'latin1')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  }

  /** Where the socket of a process is. */
  address(pid: number): string {
    return this.#folder?.within(String(pid)) ?? '';
  }

  /** Removes the socket of a worker that has ended. */
  removeSocket(pid: number): void {
    try {
      unlinkSync(fsPath(this.address(pid)));
    } catch {
      // It ended before it made one.
    }
  }

  /** Removes the folder, unless another master's workers are in it. Workers of a master before may have had no right to remove theirs. */
  remove(): void {
    try {
      if (this.#folder?.isInPlace) {
        for (const pid of this.pids().filter((each) => !isAlive(each))) {
          this.removeSocket(pid);
        }
        rmdirSync(fsPath(this.#path));
      }
    } catch {
      // It is in use, or gone.
    }
  }

  #make(): void {
    this.#folder = undefined;
    try {
      this.#folder = PrivateFolder.make(this.#path);
    } catch (error) {
      const without = 'workers cannot be taken over should this process be killed';
      if (errnoCode(error) === '') {
        this.#log.log(WARN, `${errnoText(error)}, ${without}`);
      } else {
        this.#log.log(NOTICE, `open() "${this.#path}" failed (${errnoText(error)}), ${without}`);
      }
    }
  }
}

/** What workers of a dead master handed over. */
export interface Inheritance {
  readonly sockets: ReadonlyMap<string, SocketHandle>;
  /** Tells those workers that they are no longer needed. Until then, and when it never happens, they serve on. */
  release(): void;
}

/** Asks all workers of a dead master for their sockets. Workers whose master is alive do not answer. */
export async function inheritFromOrphans(folder: ControlFolder, log: Logger): Promise<Inheritance> {
  const sockets = new Map<string, SocketHandle>();
  const pipes = (await Promise.all(folder.pids().map((pid) => collect(folder, pid, sockets)))).filter((pipe) => pipe !== undefined);
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
function collect(folder: ControlFolder, pid: number, sockets: Map<string, SocketHandle>): Promise<HandlePipe | undefined> {
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
    HandlePipe.connect(folder.address(pid), events, (result) => {
      if (typeof result !== 'number') {
        connected = result;
        return;
      }
      if (!isAlive(pid)) {
        folder.removeSocket(pid);
      }
      finish(undefined);
    });
  });
}

function isAlive(pid: number): boolean {
  if (processStat(pid)?.ended) {
    return false;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoCode(error) === 'EPERM';
  }
}
