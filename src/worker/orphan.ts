import { HANDED_OVER, LET_GO } from '../shared/ipc/messages.js';
import { HandlePipeServer } from '../shared/net/handle-pipe.js';
import type { ListenSocket } from '../shared/net/listen-socket.js';

/** The socket by which a new master reaches this process once its own is gone. Nobody listens on it before that. */
export class ControlSocket {
  readonly #server: HandlePipeServer | undefined;

  /** Makes the socket in the master's folder, which takes the master's rights. Where that is impossible, nobody can take over. */
  constructor(folder: string | undefined) {
    this.#server = folder === undefined ? undefined : HandlePipeServer.bind(`${folder}/${process.pid}`);
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
