import { readSync, writeSync } from 'node:fs';
import { errnoCode } from '../../shared/system/errno.js';
import { setTimer } from '../../shared/time/timer.js';
import { EMPTY } from '../bytes/empty.js';

/** Milliseconds between two looks. */
const INTERVAL = 100;

const byte = Buffer.alloc(1);

/** A socket whose client has said that it sends no more, in TLS or by the end of the connection. */
export interface EndedSocket {
  /** The connection's descriptor; negative once it is closed. */
  readonly descriptor: number;
  /** The client ended TLS, but its end of the connection was still there at the latest look. */
  readonly stays: boolean;
  /** The client's end of the connection is gone as well. */
  clientWent(): void;
  /** Nothing can be sent any more. */
  clientBroke(): void;
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

/** Whether the connection was reset. Node's cipher may lose the error of a write. */
function isBroken(descriptor: number): boolean {
  try {
    writeSync(descriptor, EMPTY);
    return false;
  } catch (error) {
    return errnoCode(error) !== 'EAGAIN';
  }
}

/** Looks now and then what has become of the client, until we have closed the connection. Requests are few that go on so. */
export function awaitClient(socket: EndedSocket): void {
  setTimer(look, INTERVAL, socket);
}

function look(socket: EndedSocket): void {
  const { descriptor } = socket;
  if (descriptor < 0) {
    return;
  }
  if (isBroken(descriptor)) {
    socket.clientBroke();
    return;
  }
  awaitClient(socket);
  if (socket.stays && !clientStays(descriptor)) {
    socket.clientWent();
  }
}
