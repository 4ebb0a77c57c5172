import { renameSync, unlinkSync } from 'node:fs';
import { HANDED_OVER } from '../shared/ipc/messages.js';
import { errnoText } from '../shared/lib/errno.js';
import { fsPath } from '../shared/lib/fs-path.js';
import type { Logger } from '../shared/log/error-log.js';
import { INFO, NOTICE } from '../shared/log/level.js';
import { HandlePipe } from '../shared/net/handle-pipe.js';
import { boundKey, ListenSocket, type SocketHandle } from '../shared/net/listen-socket.js';

/** Milliseconds that a worker may take to hand its sockets over. */
const PATIENCE = 2_000;

/** The path of the control socket that belongs to a pid file. */
export const controlPath = (pidPath: string): string => `${pidPath}.sock`;

/**
 * The socket by which a new master reaches workers whose master was killed. The master binds it and its workers inherit it; none of them
 * listens on it before it is alone, so in normal life a connection is refused.
 */
export class ControlSocket {
  #path: string;
  readonly #socket: ListenSocket;

  private constructor(path: string, socket: ListenSocket) {
    this.#path = path;
    this.#socket = socket;
  }

  /** Makes the socket; undefined when that is impossible here, which the log says: then nobody can take over from a killed master. */
  static open(path: string, log: Logger): ControlSocket | undefined {
    try {
      const spec = {
        key: `unix:${path}`,
        family: 'unix',
        address: path,
        port: 0,
        backlog: 1,
        ipv6only: false,
        reuseport: false,
        udp: false,
      } as const;
      return new ControlSocket(path, ListenSocket.bind(spec, 0o600));
    } catch (error) {
      log.log(INFO, `no control socket "${path}" (${errnoText(error)})`);
      return undefined;
    }
  }

  get fd(): number {
    return this.#socket.fd;
  }

  /** Gives the socket another path, as an upgrade does with the pid file. */
  rename(path: string): void {
    try {
      renameSync(fsPath(this.#path), fsPath(path));
      this.#path = path;
    } catch {
      // Without its name it is of no use, and does no harm.
    }
  }

  remove(): void {
    removeFile(this.#path);
  }
}

/** What workers of a dead master handed over. */
export interface Inheritance {
  readonly sockets: ReadonlyMap<string, SocketHandle>;
  /** Tells those workers that they are no longer needed. */
  release(): void;
}

/**
 * Asks all workers of a dead master for their sockets, one after the other: each takes one connection and then leaves the control socket
 * to the next, until nobody is left. They serve on until they are released.
 */
export async function inheritFromOrphans(path: string, log: Logger): Promise<Inheritance> {
  const sockets = new Map<string, SocketHandle>();
  const pipes: HandlePipe[] = [];
  for (;;) {
    const pipe = await collect(path, sockets);
    if (pipe === undefined) {
      break;
    }
    pipes.push(pipe);
  }
  if (pipes.length > 0) {
    log.log(NOTICE, `taking over from ${pipes.length} worker processes whose master is gone`);
  }
  removeFile(path);
  return {
    sockets,
    release() {
      for (const pipe of pipes) {
        pipe.close();
      }
    },
  };
}

/** Collects the sockets of one worker; undefined when nobody answers. */
function collect(path: string, sockets: Map<string, SocketHandle>): Promise<HandlePipe | undefined> {
  return new Promise((done) => {
    let connected: HandlePipe | undefined;
    const timer = setTimeout(() => {
      connected?.close();
      done(undefined);
    }, PATIENCE);
    const finish = (pipe: HandlePipe | undefined): void => {
      clearTimeout(timer);
      done(pipe);
    };
    HandlePipe.connect(
      path,
      {
        handle(handle) {
          const key = boundKey(handle);
          if (key === undefined || sockets.has(key)) {
            handle.close();
          } else {
            sockets.set(key, handle);
          }
        },
        text(text) {
          if (text.endsWith(HANDED_OVER)) {
            finish(connected);
          }
        },
        end: () => finish(undefined),
      },
      (result) => {
        if (typeof result === 'number') {
          finish(undefined);
        } else {
          connected = result;
        }
      },
    );
  });
}

function removeFile(path: string): void {
  try {
    unlinkSync(fsPath(path));
  } catch {
    // It was not there.
  }
}
