import { Socket } from 'node:net';
import { needsDescriptor, openDescriptorTo } from '../../shared/net/backend-descriptor.js';
import type { BackendTarget } from '../../shared/net/socket.js';

/**
 * One of Node's sockets that connects to a backend on a descriptor with all that the target asks for; undefined where Node can do that
 * itself.
 */
export function preparedSocket(target: BackendTarget): Socket | undefined {
  if (!needsDescriptor(target)) {
    return undefined;
  }
  const { address, port } = target;
  const fd = openDescriptorTo(address, port, target);
  if (typeof fd !== 'number') {
    const failed = new Socket();
    process.nextTick(() => failed.destroy(fd));
    return failed;
  }
  // It may not read before it is connected.
  const socket = new Socket({ fd, allowHalfOpen: true, manualStart: true } as never);
  return port === 0 ? socket.connect({ path: address }) : socket.connect({ host: address, port });
}
