import { withoutZone } from '../address/zone-id.js';
import type { ByteHandle, WriteRequest } from './handle-binding.js';
import type { SocketAddress } from './socket.js';

interface Address {
  address?: string | undefined;
  port?: number;
}

/** libuv's wrapper of a TCP or Unix-domain connection. */
export interface ConnectionHandle extends ByteHandle {
  /** How many bytes the kernel has not taken yet. */
  readonly writeQueueSize: number;
  /** What it returns is read into from then on. */
  onread: ((this: ConnectionHandle) => Buffer | undefined) | undefined;
  /** What serves it. */
  client?: unknown;
  useUserBuffer(buffer: Buffer): void;
  readStart(): number;
  readStop(): number;
  setNoDelay?(on: boolean): number;
  setKeepAlive?(on: boolean, delay: number): number;
  getpeername?(into: Address): number;
  getsockname?(into: Address): number;
  shutdown(request: WriteRequest): number;
  close(done?: () => void): void;
  reset?(done: () => void): number;
}

/** Most connections come to the same address, whose text they share. */
let lastLocal: string | undefined;

/** Where the other end of a connection is. */
export function remoteOf(handle: ConnectionHandle): SocketAddress {
  const peer: Address = {};
  handle.getpeername?.(peer);
  peer.address = withoutZone(peer.address);
  return peer;
}

/** Where this end of a connection is. */
export function localOf(handle: ConnectionHandle): SocketAddress {
  const local: Address = {};
  handle.getsockname?.(local);
  local.address = withoutZone(local.address);
  if (local.address === lastLocal) {
    local.address = lastLocal;
  } else {
    lastLocal = local.address;
  }
  return local;
}
