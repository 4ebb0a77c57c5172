import type { Socket } from 'node:net';

/** Lets a client leave. */
export function depart(socket: Socket, how: 'half' | 'close' | 'reset'): void {
  if (how === 'half') {
    socket.end();
  } else if (how === 'reset') {
    socket.resetAndDestroy();
  } else {
    socket.destroy();
  }
}
