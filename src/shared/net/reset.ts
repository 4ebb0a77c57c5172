import type { Socket } from 'node:net';

/** Ends a connection with a TCP reset. Node resets plain sockets only, so that of TLS is reset below its cipher. */
export function resetConnection(socket: Socket): void {
  const below = (socket as unknown as { readonly _parent: Socket | null })._parent;
  (below ?? socket).resetAndDestroy();
}
