import type { SocketAddress } from '../../shared/net/socket.js';
import { addressAt, Family } from '../../shared/net/socket-addresses.js';
import { LOCAL_4 } from './message-sender.js';

/** The address that a datagram came to, as text: that of its own `local`, with the port of the socket. */
export function localText(socket: SocketAddress, local: Buffer | undefined): SocketAddress {
  if (local === undefined) {
    return socket;
  }
  const name = Buffer.alloc(28);
  name.writeUInt16LE(local.length === LOCAL_4 ? Family.INET : Family.INET6, 0);
  local.copy(name, local.length === LOCAL_4 ? 4 : 8, 0, local.length === LOCAL_4 ? 4 : 16);
  return { address: addressAt(name, 0).address, port: socket.port };
}
