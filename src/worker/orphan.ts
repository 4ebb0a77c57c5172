import { rmSync } from 'node:fs';
import { fsPath } from '../shared/files/fs-path.js';
import type { PrivateFolder } from '../shared/files/private-folder.js';
import { HANDED_OVER, LET_GO } from '../shared/ipc/messages.js';
import type { Logger } from '../shared/log/error-log.js';
import { INFO } from '../shared/log/level.js';
import { HandlePipeServer } from '../shared/net/handle-pipe.js';
import type { ListenSocket } from '../shared/net/listen-socket.js';
import { errnoText } from '../shared/system/errno.js';

/** The socket by which a new master reaches this process once its own is gone. Nobody listens on it before that. */
export class ControlSocket {
  readonly #server: HandlePipeServer | undefined;

  /** Makes the socket in the master's folder, which takes the master's rights. Where that is impossible, nobody can take over. */
  constructor(folder: PrivateFolder | undefined, log: Logger) {
    this.#server = folder && bind(folder, log);
  }

  /**
   * Waits for a new master, hands it the listening sockets, and calls `letGo` once its own workers accept. A master that goes away before
   * that changes nothing.
   */
  awaitMaster(sockets: readonly ListenSocket[], letGo: () => void): void {
    this.#server?.listen((pipe) => {
      for (const { handle } of sockets) {
        pipe.send('socket', handle);
      }
      pipe.send(HANDED_OVER);
      return {
        text(text) {
          if (text === LET_GO) {
            letGo();
          }
        },
      };
    });
  }
}

function bind(folder: PrivateFolder, log: Logger): HandlePipeServer | undefined {
  const name = String(process.pid);
  try {
    const address = folder.within(name);
    // One of this name was left by an earlier process of the same number.
    rmSync(fsPath(address), { force: true });
    return HandlePipeServer.bind(address);
  } catch (error) {
    log.log(INFO, `no control socket "${folder.path}/${name}" (${errnoText(error)})`);
    return undefined;
  }
}
