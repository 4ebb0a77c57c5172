import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Lets a client leave. */
export function depart(socket: Socket, how: 'half' | 'close' | 'reset'): void {
  if (how === 'half') {
    socket.end();
  } else if (how === 'reset' && !(socket instanceof TLSSocket)) {
    socket.resetAndDestroy();
  } else {
    socket.destroy();
  }
}

/** Lets a backend leave. A socket of Node's that TLS is on cannot be reset. */
export function departFrom(socket: Socket, how: 'close' | 'reset'): void {
  if (how === 'close') {
    socket.end();
  } else {
    depart(socket, how);
  }
}
