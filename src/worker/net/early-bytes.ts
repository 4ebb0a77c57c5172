import type { SocketOwner } from '../../shared/net/socket.js';

/** What came on a connection before somebody owned it, and now a copy of so many bytes more. */
export function keptEarly(early: Buffer[] | null, bytes: Buffer, length: number): Buffer[] {
  const copy = Buffer.from(bytes.subarray(0, length));
  if (early === null) {
    return [copy];
  }
  early.push(copy);
  return early;
}

/** Tells a connection's owner what came before it was the owner. `ended`: nothing follows that; `stays`: see {@link SocketOwner}. */
export function tellEarly(owner: SocketOwner, early: readonly Buffer[] | null, ended: boolean, stays: boolean): void {
  if (early !== null) {
    for (const bytes of early) {
      owner.socketReceived(bytes, bytes.length, false);
    }
  }
  if (ended) {
    owner.socketEnded(stays);
  }
}
