import { readSync } from 'node:fs';
import { errnoCode } from '../lib/errno.js';
import { setTimer } from '../lib/timer.js';

/** Milliseconds between two looks. */
const INTERVAL = 100;

const byte = Buffer.alloc(1);

/** A socket whose client has said in TLS that it sends no more. */
export interface EndedSocket {
  /** The connection's descriptor; negative once it is closed. */
  readonly descriptor: number;
  /** The client's end of the connection is gone as well. */
  clientWent(): void;
}

/**
 * Whether the client's end of a connection is still there after TLS has ended on it. Node's cipher tells of the first of the two ends only,
 * and libuv does not read on.
 */
export function clientStays(descriptor: number): boolean {
  if (descriptor < 0) {
    return false;
  }
  try {
    // What comes behind the end of TLS is nobody's.
    return readSync(descriptor, byte, 0, 1, null) > 0;
  } catch (error) {
    return errnoCode(error) === 'EAGAIN';
  }
}

/** Looks now and then, until the client's end of the connection is gone or we have closed it. Requests are few that wait so. */
export function awaitClient(socket: EndedSocket): void {
  setTimer(look, INTERVAL, socket);
}

function look(socket: EndedSocket): void {
  if (socket.descriptor < 0) {
    return;
  }
  if (clientStays(socket.descriptor)) {
    awaitClient(socket);
  } else {
    socket.clientWent();
  }
}
