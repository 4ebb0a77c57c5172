import { HANDED_OVER } from '../shared/ipc/messages.js';
import { HandlePipe } from '../shared/net/handle-pipe.js';
import type { ListenSocket } from '../shared/net/listen-socket.js';

/**
 * A worker whose master is gone serves on. It waits on the control socket for a new master, hands its listening sockets over, and lets go of
 * them once that one's workers accept, which is when the connection ends.
 */
export function awaitNewMaster(control: number, sockets: readonly ListenSocket[], letGo: () => void): void {
  HandlePipe.acceptOne(control, (pipe) => {
    for (const { handle } of sockets) {
      pipe.send('socket', handle);
    }
    pipe.send(HANDED_OVER);
    return { end: letGo };
  });
}
